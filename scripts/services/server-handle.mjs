import { readFileSync } from 'node:fs'
import { control } from './control.mjs'

/**
 * A server as tests and programs hold it. `null` as its process id says that it is stopped, or not ours to know.
 *
 * @typedef {object} ServerHandle
 * @property {string} url
 * @property {number | null} pid
 * @property {() => Promise<void>} start
 * @property {() => Promise<void>} stop in good order, without waiting for clients
 * @property {() => Promise<void>} restart on the same port and data
 * @property {() => Promise<void>} kill as a crash would
 */

/**
 * A server that belongs to the guard of some process, by the file that describes what it started.
 *
 * @param {string} name
 * @param {string} descriptionFile
 * @returns {ServerHandle | null} null when that guard has no such server
 */
export function describedServer(name, descriptionFile) {
  const read = () => JSON.parse(readFileSync(descriptionFile, 'utf8'))
  const { socket, servers } = read()
  if (servers[name] === undefined) return null
  /** @param {import('./control.mjs').Action} action */
  const ask = (action) => () => control(socket, name, action)
  return {
    url: servers[name].url,
    get pid() {
      return read().servers[name].pid
    },
    start: ask('start'),
    stop: ask('stop'),
    restart: ask('restart'),
    kill: ask('kill'),
  }
}

/**
 * A server that somebody else runs, and that is only used.
 *
 * @param {string} variable
 * @param {string} url
 * @returns {ServerHandle}
 */
export function foreignServer(variable, url) {
  const refuse = async () => {
    throw new Error(`The server of ${variable} was not started here, and so is not stopped or started from here.`)
  }
  return { url, pid: null, start: refuse, stop: refuse, restart: refuse, kill: refuse }
}
