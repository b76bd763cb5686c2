import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Compose } from './compose.mjs'
import { serveControl } from './control.mjs'
import { writeDescription } from './description.mjs'
import { engines } from './engines.mjs'
import { ServerContainer } from './server-container.mjs'
import { ServerProcess } from './server-process.mjs'

/**
 * @typedef {object} Order
 * @property {[import('./engines.mjs').EngineName, import('./source.mjs').Source][]} sources of what is to be started
 * @property {boolean} durable
 * @property {string} parentFolder in which the folder of the servers is made
 */

/** The servers that are started together, with the folder that holds all that they write. */
export class ServerGroup {
  /** @type {Map<string, ServerProcess | ServerContainer>} */
  #servers = new Map()
  /** @type {Map<string, Promise<void>>} */
  #turns = new Map()
  /** @type {Promise<unknown>} */
  #creating = Promise.resolve()
  /** @type {string | null} */
  #folder = null
  /** @type {Compose | null} */
  #compose = null
  #ending = false

  /**
   * @param {Order} order
   * @returns {Promise<string>} the path of the file that describes them
   */
  async start({ sources, durable, parentFolder }) {
    const folder = mkdtempSync(join(parentFolder, 'treadle-services-'))
    this.#folder = folder
    // The servers may run as another user, who has to get through to the folder of each.
    chmodSync(folder, 0o711)
    for (const [name, source] of sources) this.#servers.set(name, this.#serverFrom(source, { name, folder, durable }))
    await this.#create()
    const socket = join(folder, 'control')
    const describe = () => writeDescription(folder, socket, this.#servers)
    const descriptionFile = describe()
    await serveControl(socket, async ({ name, action }) => {
      await this.#act(name, action)
      describe()
    })
    return descriptionFile
  }

  /** Ends all of them, and takes away what they wrote. */
  async end() {
    await this.#creating
    const stops = [...this.#servers.keys()].map((name) => this.#act(name, 'stop'))
    this.#ending = true
    await Promise.all(stops)
    await this.#compose?.remove()
    if (this.#folder !== null) rmSync(this.#folder, { recursive: true, force: true })
  }

  /**
   * @param {import('./source.mjs').Source} source
   * @param {{ name: import('./engines.mjs').EngineName, folder: string, durable: boolean }} setting
   */
  #serverFrom(source, { name, folder, durable }) {
    if (source.from === 'programs') return new ServerProcess(engines[name], { programs: source.programs, folder, durable })
    this.#compose ??= new Compose(basename(folder).toLowerCase(), durable)
    return new ServerContainer(engines[name], this.#compose)
  }

  async #create() {
    const all = Promise.allSettled([...this.#servers.values()].map((server) => server.create()))
    this.#creating = all
    const failure = (await all).find((created) => created.status === 'rejected')
    if (failure?.status === 'rejected') throw failure.reason
  }

  /**
   * One thing at a time with each server, in the order in which it was asked for.
   *
   * @param {string} name
   * @param {import('./control.mjs').Action} action
   */
  #act(name, action) {
    const server = this.#servers.get(name)
    if (server === undefined || this.#ending) throw new Error(`${name} does not run here, or is being ended for good`)
    const turn = (this.#turns.get(name) ?? Promise.resolve()).then(() => server[action]())
    this.#turns.set(
      name,
      turn.catch(() => {}),
    )
    return turn
  }
}
