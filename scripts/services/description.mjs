// A small file that tells other processes which servers there are, and where they can be told to stop and start.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * @typedef {object} Description
 * @property {string} socket
 * @property {Record<string, { url: string, pid: number | null }>} servers
 */

/**
 * @param {string} folder
 * @param {string} socket
 * @param {ReadonlyMap<string, { readonly url: string, readonly pid: number | null }>} servers
 * @returns {string} its path
 */
export function writeDescription(folder, socket, servers) {
  const path = join(folder, 'services.json')
  const entries = [...servers].map(([name, { url, pid }]) => [name, { url, pid }])
  writeFileSync(`${path}.new`, JSON.stringify({ socket, servers: Object.fromEntries(entries) }))
  // In one step: whoever reads it meanwhile finds the one or the other.
  renameSync(`${path}.new`, path)
  return path
}

/**
 * @param {string} path
 * @returns {Description | null} null when the servers have ended for good
 */
export function readDescription(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (thrown) {
    if (thrown.code === 'ENOENT') return null
    throw thrown
  }
}
