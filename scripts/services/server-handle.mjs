import { control } from './control.mjs'
import { readDescription } from './description.mjs'

/**
 * A server as tests and programs hold it.
 *
 * @typedef {object} ServerHandle
 * @property {string} url
 * @property {number | null} pid null while it is stopped, and where it is not ours to know
 * @property {() => Promise<void>} start
 * @property {() => Promise<void>} stop in good order, without waiting for clients
 * @property {() => Promise<void>} restart on the same port and data
 * @property {() => Promise<void>} kill as a crash would
 */

/**
 * A server that was started by this or another process, by the file that describes what runs there.
 *
 * @param {string} name
 * @param {string} descriptionFile
 * @returns {ServerHandle | null} null when there is no such server
 */
export function describedServer(name, descriptionFile) {
  const description = readDescription(descriptionFile)
  const server = description?.servers[name]
  if (server === undefined) return null
  /** @param {import('./control.mjs').Action} action */
  const asking = (action) => () => control(description.socket, { name, action })
  return {
    url: server.url,
    get pid() {
      return readDescription(descriptionFile)?.servers[name]?.pid ?? null
    },
    start: asking('start'),
    stop: asking('stop'),
    restart: asking('restart'),
    kill: asking('kill'),
  }
}

/**
 * A server that somebody else runs: it is only used.
 *
 * @param {string} variable
 * @param {string} url
 * @returns {ServerHandle}
 */
export function foreignServer(variable, url) {
  const refuse = async () => {
    throw new Error(`The server that ${variable} names was not started here, and is not stopped or started from here either.`)
  }
  return { url, pid: null, start: refuse, stop: refuse, restart: refuse, kill: refuse }
}
