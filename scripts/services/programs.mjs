import { accessSync, constants, readdirSync, realpathSync, statSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'

/** Where servers lie that are installed and not on the PATH. A star stands for a version, of which the newest is preferred. */
export const usualHomes = [
  '/usr/lib/postgresql/*/bin',
  '/usr/pgsql-*/bin',
  '/opt/homebrew/opt/postgresql@*/bin',
  '/usr/local/opt/postgresql@*/bin',
  '/opt/homebrew/bin',
  '/usr/local/bin',
  '/usr/local/sbin',
  '/usr/bin',
  '/usr/sbin',
  '/usr/libexec',
]

/** @param {NodeJS.ProcessEnv} env */
export function programFolders(env) {
  const onPath = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  return [...new Set([...onPath, ...usualHomes.flatMap(newestFirst)])]
}

/**
 * Where the programs of the first complete set are; null when no set is complete.
 *
 * @param {readonly (readonly string[])[]} sets
 * @param {readonly string[]} folders
 * @returns {Readonly<Record<string, string>> | null}
 */
export function findPrograms(sets, folders) {
  for (const [main, ...others] of sets) {
    const found = firstProgram(main, folders)
    if (found === null) continue
    // What belongs to a program lies beside it: another folder may hold another version.
    const beside = [dirname(realpathSync(found)), ...folders]
    const all = [[main, found], ...others.map((name) => [name, firstProgram(name, beside)])]
    if (all.every(([, path]) => path !== null)) return Object.fromEntries(all)
  }
  return null
}

/** @param {string} pattern */
function newestFirst(pattern) {
  const [before, after] = pattern.split('*')
  if (after === undefined) return [pattern]
  const folder = before.endsWith('/') ? before : `${dirname(before)}/`
  const start = before.slice(folder.length)
  return namesIn(folder)
    .filter((name) => name.startsWith(start))
    .sort((a, b) => Number.parseFloat(b.slice(start.length)) - Number.parseFloat(a.slice(start.length)))
    .map((name) => `${folder}${name}${after}`)
}

/** @param {string} folder */
function namesIn(folder) {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/**
 * @param {string} name
 * @param {readonly string[]} folders
 */
function firstProgram(name, folders) {
  return folders.map((folder) => join(folder, name)).find(isProgram) ?? null
}

/** @param {string} path */
function isProgram(path) {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
