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
  const peers = ['plainjob', 'better-sqlite3']
  return Object.fromEntries(peers.map((name) => [name, versionIn(`./node_modules/${name}/package.json`)]))
}

function versionIn(manifest) {
  try {
    return JSON.parse(readFileSync(new URL(manifest, import.meta.url), 'utf8')).version
  } catch {
    return 'not installed'
  }
}
