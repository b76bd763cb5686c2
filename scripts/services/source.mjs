import { aptInstall, aptObstacle } from './apt.mjs'
import { composeObstacle } from './compose.mjs'
import { engines } from './engines.mjs'
import { missingMessage } from './missing.mjs'
import { findPrograms, programFolders } from './programs.mjs'

/**
 * Where a server comes from.
 *
 * @typedef {{ from: 'url', url: string } | { from: 'programs', programs: Readonly<Record<string, string>> } | { from: 'compose' }} Source
 *
 * What a machine has to offer. A function answers with what stands in the way, or null.
 *
 * @typedef {object} Machine
 * @property {NodeJS.ProcessEnv} env
 * @property {readonly string[]} folders in which programs are looked for
 * @property {() => string | null} aptObstacle
 * @property {(packages: readonly string[]) => void} install
 * @property {() => string | null} composeObstacle
 */

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {(message: string) => void} say
 * @returns {Machine}
 */
export function thisMachine(env, say) {
  const folders = programFolders(env)
  return {
    env,
    folders,
    aptObstacle: () => aptObstacle(folders),
    install: (packages) => {
      say(`installing ${packages.join(' ')} (apt-get)`)
      aptInstall(packages, env)
    },
    composeObstacle: () => composeObstacle(env),
  }
}

/**
 * Finds all servers, and installs together those that have to be. What can not be had is told for all of them at once.
 *
 * @param {readonly import('./engines.mjs').EngineName[]} names
 * @param {Machine} machine
 * @returns {{ sources: Map<import('./engines.mjs').EngineName, Source>, missing: Map<import('./engines.mjs').EngineName, string> }}
 */
export function findSources(names, machine) {
  installMissing(names, machine)
  const sources = new Map()
  const missing = new Map()
  for (const name of names) {
    const source = presentSource(name, machine) ?? composeSource(machine)
    if (source === null) missing.set(name, missingMessage(name, machine))
    else sources.set(name, source)
  }
  return { sources, missing }
}

/**
 * @param {readonly import('./engines.mjs').EngineName[]} names
 * @param {Machine} machine
 */
function installMissing(names, machine) {
  const absent = names.filter((name) => presentSource(name, machine) === null)
  const packages = absent.map((name) => engines[name].debianPackage).filter((name) => name !== null)
  if (packages.length > 0 && machine.aptObstacle() === null) machine.install(packages)
}

/**
 * @param {import('./engines.mjs').EngineName} name
 * @param {Machine} machine
 * @returns {Source | null}
 */
function presentSource(name, { env, folders }) {
  const { variable, programs } = engines[name]
  const url = env[variable]
  if (url !== undefined && url !== '') return { from: 'url', url }
  const found = findPrograms(programs, folders)
  return found === null ? null : { from: 'programs', programs: found }
}

/**
 * @param {Machine} machine
 * @returns {Source | null}
 */
function composeSource(machine) {
  return machine.composeObstacle() === null ? { from: 'compose' } : null
}
