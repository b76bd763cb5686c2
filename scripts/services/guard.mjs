// The process that the servers belong to. It ends them, and takes away their folder, when the process that started it stops or
// dies in whatever way: then the channel between the two closes.
import { chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Compose } from './compose.mjs'
import { serveControl } from './control.mjs'
import { engines } from './engines.mjs'
import { ServerContainer } from './server-container.mjs'
import { ServerProcess } from './server-process.mjs'

/**
 * @typedef {object} Order
 * @property {[import('./engines.mjs').EngineName, import('./source.mjs').Source][]} sources of what is to be started
 * @property {boolean} durable
 * @property {string} parentFolder
 *
 * @typedef {{ ready: true, descriptionFile: string } | { ready: false, problem: string }} Answer
 */

/** @type {Map<string, ServerProcess | ServerContainer>} */
const servers = new Map()
/** @type {Compose | null} */
let compose = null
/** @type {string | null} */
let folder = null
/** @type {Promise<void>} */
let starting = Promise.resolve()
let ending = false

process.once('message', (order) => {
  starting = start(/** @type {Order} */ (order)).then(
    (descriptionFile) => answer({ ready: true, descriptionFile }),
    (problem) => answer({ ready: false, problem: problem.message }),
  )
})
process.once('disconnect', end)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, end)

/** @param {Order} order */
async function start({ sources, durable, parentFolder }) {
  folder = mkdtempSync(join(parentFolder, 'treadle-services-'))
  // The servers may run as another user, who has to get through to the folder of each.
  chmodSync(folder, 0o711)
  compose = sources.some(([, { from }]) => from === 'compose')
    ? new Compose(folder.split('/').at(-1).toLowerCase(), durable)
    : null
  for (const [name, source] of sources) {
    const engine = engines[name]
    const { programs } = /** @type {{ programs: Readonly<Record<string, string>> }} */ (source)
    servers.set(
      name,
      source.from === 'compose' ? new ServerContainer(engine, compose) : new ServerProcess(engine, { programs, folder, durable }),
    )
  }
  await Promise.all([...servers.values()].map((server) => server.create()))
  const socket = join(folder, 'control')
  const descriptionFile = join(folder, 'services.json')
  describe(descriptionFile, socket)
  await serveControl(socket, servers, () => describe(descriptionFile, socket))
  return descriptionFile
}

/**
 * @param {string} path
 * @param {string} socket
 */
function describe(path, socket) {
  const entries = [...servers].map(([name, { url, pid }]) => [name, { url, pid }])
  writeFileSync(`${path}.new`, JSON.stringify({ socket, servers: Object.fromEntries(entries) }))
  // In one step: whoever reads it meanwhile finds the one or the other.
  renameSync(`${path}.new`, path)
}

/** @param {Answer} message */
function answer(message) {
  if (process.connected) process.send(message)
}

async function end() {
  if (ending) return
  ending = true
  await starting
  await Promise.all([...servers.values()].filter((server) => server instanceof ServerProcess).map((server) => server.stop()))
  await compose?.down()
  if (folder !== null) rmSync(folder, { recursive: true, force: true })
  process.exit()
}
