import { freePort } from './port.mjs'
import { answering } from './readiness.mjs'

/** A server in a container, on one port for as long as this object lives. */
export class ServerContainer {
  #engine
  #compose
  #port = 0

  /**
   * @param {import('./engine.mjs').Engine} engine
   * @param {import('./compose.mjs').Compose} compose
   */
  constructor(engine, compose) {
    this.#engine = engine
    this.#compose = compose
  }

  get url() {
    return this.#engine.url(this.#port)
  }

  /** Its process belongs to the docker engine. */
  get pid() {
    return null
  }

  async create() {
    this.#port = await freePort()
    await this.#compose.create(this.#engine.name, this.#port)
    await this.#answering()
  }

  async start() {
    await this.#compose.start(this.#engine.name)
    await this.#answering()
  }

  async stop() {
    await this.#compose.stop(this.#engine.name)
  }

  async kill() {
    await this.#compose.kill(this.#engine.name)
  }

  async restart() {
    await this.stop()
    await this.start()
  }

  async #answering() {
    try {
      await answering(
        () => this.#engine.ping(this.url),
        () => false,
      )
    } catch (problem) {
      throw new Error(`${this.#engine.title} did not start in its container: ${problem.message}`, { cause: problem })
    }
  }
}
