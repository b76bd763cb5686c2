import { fork } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { descriptionVariable, engines } from './engines.mjs'
import { describedServer, foreignServer } from './server-handle.mjs'
import { findSources, thisMachine } from './source.mjs'

/** @typedef {import('./engines.mjs').EngineName} EngineName */

/**
 * @typedef {object} Services
 * @property {Partial<Record<EngineName, string>>} urls
 * @property {Partial<Record<EngineName, import('./server-handle.mjs').ServerHandle>>} servers
 * @property {NodeJS.ProcessEnv} env variables that tell other processes about them
 * @property {Partial<Record<EngineName, string>>} missing why each of the optional ones is not there
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
export async function startServices({
  names,
  optional = [],
  durable = false,
  folder = tmpdir(),
  env = process.env,
  say = () => {},
}) {
  const { sources, missing } = findSources([...new Set([...names, ...optional])], thisMachine(env, say))
  const needed = names.flatMap((name) => missing.get(name) ?? [])
  if (needed.length > 0) throw new Error(needed.join('\n\n'))
  const toStart = [...sources].filter(([, { from }]) => from !== 'url')
  const guard = toStart.length === 0 ? null : await startGuard({ sources: toStart, durable, parentFolder: folder })
  const servers = Object.fromEntries(
    [...sources].map(([name, source]) => [
      name,
      source.from === 'url' ? foreignServer(engines[name].variable, source.url) : describedServer(name, guard.descriptionFile),
    ]),
  )
  const urls = Object.fromEntries(Object.entries(servers).map(([name, { url }]) => [name, url]))
  const variables = Object.entries(urls).map(([name, url]) => [engines[name].variable, url])
  return {
    urls,
    servers,
    env: Object.fromEntries([...variables, ...(guard === null ? [] : [[descriptionVariable, guard.descriptionFile]])]),
    missing: Object.fromEntries(missing),
    stop: guard === null ? async () => {} : guard.stop,
  }
}

/** @param {import('./guard.mjs').Order} order */
async function startGuard(order) {
  const guard = fork(fileURLToPath(new URL('./guard.mjs', import.meta.url)), {
    // A session of its own: Ctrl-C is for the programs that use the servers, and ends these after them.
    detached: true,
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const exit = once(guard, 'exit')
  guard.send(order)
  const [answer] = await Promise.race([
    once(guard, 'message'),
    exit.then(([code, signal]) => [{ problem: `the guard ended with ${signal ?? code}` }]),
  ])
  const stop = async () => {
    if (guard.connected) guard.disconnect()
    guard.ref()
    await exit
  }
  if (answer.ready !== true) {
    await stop()
    throw new Error(answer.problem)
  }
  // A process that has nothing else to do may end, and the servers with it.
  guard.unref()
  guard.channel?.unref()
  return { descriptionFile: /** @type {string} */ (answer.descriptionFile), stop }
}
