import { readFileSync } from 'node:fs'
import { availableParallelism, cpus, release, totalmem, type } from 'node:os'

/**
 * Where and when a run took place; without it its figures mean nothing.
 *
 * @param {readonly string[]} packages whose versions count
 */
export function machine(packages) {
  return {
    date: new Date().toISOString().slice(0, 16).replace('T', ' '),
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 1024 ** 3),
    system: `${type()} ${release()}`,
    node: process.version,
    versions: { treadle: versionIn('../package.json'), ...Object.fromEntries(packages.map((name) => [name, versionOf(name)])) },
  }
}

/** The libraries for schedules and the client of Redis are Treadle's own, in the versions that it is tested with. */
function versionOf(name) {
  const folder = name.startsWith('cron') || name === 'ioredis' ? '../node_modules' : './node_modules'
  return versionIn(`${folder}/${name}/package.json`)
}

function versionIn(manifest) {
  try {
    return JSON.parse(readFileSync(new URL(manifest, import.meta.url), 'utf8')).version
  } catch {
    return 'not installed'
  }
}
