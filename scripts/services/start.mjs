import { tmpdir } from 'node:os'
import { descriptionVariable, engines } from './engines.mjs'
import { startGuard } from './guarded.mjs'
import { thisMachine } from './machine.mjs'
import { describedServer, foreignServer } from './server-handle.mjs'
import { findSource } from './source.mjs'

/**
 * @typedef {import('./engines.mjs').EngineName} EngineName
 * @typedef {import('./server-handle.mjs').ServerHandle} ServerHandle
 * @typedef {import('./source.mjs').Source} Source
 *
 * @typedef {object} Services
 * @property {Record<EngineName, string>} urls of those that there are
 * @property {Record<EngineName, ServerHandle>} servers
 * @property {Record<string, string>} variables tell other processes about them
 * @property {readonly string[]} missing what is to be said about optional ones that are not there
 * @property {() => Promise<void>} stop ends what was started, and only that
 *
 * @typedef {object} StartOptions
 * @property {readonly EngineName[]} names
 * @property {readonly EngineName[]} [optional] taken where they can be had
 * @property {boolean} [durable] what is acknowledged is on disk: for measurements. Otherwise it outlives the server, not the machine
 * @property {string} [folder] in which the temporary folder is made
 * @property {NodeJS.ProcessEnv} [env] names servers that run already, and has the PATH
 * @property {(message: string) => void} [say] is told what takes long
 */

/**
 * Starts servers, or takes those that the environment names. They end with this process, however it ends.
 *
 * @param {StartOptions} options
 * @returns {Promise<Services>}
 */
export async function startServices(options) {
  const { names, optional = [], durable = false, folder = tmpdir(), env = process.env, say = () => {} } = options
  const machine = thisMachine(env, say)
  const sources = [...new Set([...names, ...optional])].map((name) => /** @type {const} */ ([name, findSource(name, machine)]))
  requireAll(names, sources)
  const toStart = sources.filter(([, { from }]) => from === 'programs' || from === 'compose')
  if (toStart.some(([, { from }]) => from === 'compose')) say('starting containers; the first time their images are fetched')
  const guard = toStart.length === 0 ? null : await startGuard({ sources: toStart, durable, parentFolder: folder })
  const servers = sources.flatMap(([name, source]) => {
    if (source.from === 'nowhere') return []
    if (source.from === 'url') return [[name, foreignServer(engines[name].variable, source.url)]]
    return [[name, describedServer(name, guard.descriptionFile)]]
  })
  return {
    urls: Object.fromEntries(servers.map(([name, { url }]) => [name, url])),
    servers: Object.fromEntries(servers),
    variables: Object.fromEntries([
      ...servers.map(([name, { url }]) => [engines[name].variable, url]),
      ...(guard === null ? [] : [[descriptionVariable, guard.descriptionFile]]),
    ]),
    missing: sources.flatMap(([, source]) => (source.from === 'nowhere' ? [source.message] : [])),
    stop: guard === null ? async () => {} : guard.stop,
  }
}

/**
 * @param {readonly EngineName[]} names
 * @param {readonly (readonly [EngineName, Source])[]} sources
 */
function requireAll(names, sources) {
  const messages = sources.flatMap(([name, source]) =>
    source.from === 'nowhere' && names.includes(name) ? [source.message] : [],
  )
  if (messages.length > 0) throw new Error(messages.join('\n\n'))
}
