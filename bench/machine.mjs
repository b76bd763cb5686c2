import { readFileSync } from 'node:fs'
import { availableParallelism, cpus, release, totalmem, type } from 'node:os'

/** Where and when a run took place; without it its figures mean nothing. */
export function machine() {
  return {
    date: new Date().toISOString().slice(0, 16).replace('T', ' '),
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 1024 ** 3),
    system: `${type()} ${release()}`,
    node: process.version,
    versions: { treadle: versionIn('../package.json'), ...versionsOfPeers() },
  }
}

function versionsOfPeers() {
  const manifests = {
    plainjob: './node_modules/plainjob/package.json',
    'better-sqlite3': './node_modules/better-sqlite3/package.json',
    croner: '../node_modules/croner/package.json',
    'cron-parser': '../node_modules/cron-parser/package.json',
  }
  return Object.fromEntries(Object.entries(manifests).map(([name, manifest]) => [name, versionIn(manifest)]))
}

function versionIn(manifest) {
  try {
    return JSON.parse(readFileSync(new URL(manifest, import.meta.url), 'utf8')).version
  } catch {
    return 'not installed'
  }
}
