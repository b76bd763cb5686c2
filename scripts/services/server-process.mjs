import { once } from 'node:events'
import { chownSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { childrenOf, gone } from './children.mjs'
import { freePort } from './port.mjs'
import { answering } from './readiness.mjs'
import { serverAccount, startServerCommand } from './server-command.mjs'

/** @typedef {import('node:child_process').ChildProcess} ChildProcess */

const patienceMs = 20_000
const portsToTry = 3

/** A server that is run from an installed program, on one port and one data folder for as long as this object lives. */
export class ServerProcess {
  #engine
  #setting
  #logFile
  /** @type {ChildProcess | null} */
  #child = null

  /**
   * @param {import('./engine.mjs').Engine} engine
   * @param {{ programs: Readonly<Record<string, string>>, folder: string, durable: boolean }} setting
   */
  constructor(engine, { programs, folder, durable }) {
    this.#engine = engine
    this.#setting = { programs, folder: join(folder, engine.name), durable, port: 0 }
    this.#logFile = join(folder, `${engine.name}.log`)
  }

  get url() {
    return this.#engine.url(this.#setting.port)
  }

  get pid() {
    return this.#child?.pid ?? null
  }

  /** The first start: makes the data folder, and takes another port when somebody was quicker to take the one that was free. */
  async create() {
    await this.#makeFolder()
    for (let tried = 1; ; tried++) {
      this.#setting.port = await freePort()
      try {
        return await this.start()
      } catch (problem) {
        if (tried === portsToTry) throw problem
      }
    }
  }

  async start() {
    if (this.#child !== null) return
    const child = this.#spawn(this.#engine.run(this.#setting))
    this.#child = child
    child.once('exit', () => {
      this.#child = null
    })
    try {
      await answering(
        () => this.#engine.ping(this.url),
        () => this.#child === null,
      )
    } catch (problem) {
      await this.kill()
      throw this.#failure(problem.message)
    }
  }

  async stop() {
    await this.#end((child) => child.kill(this.#engine.stopSignal))
  }

  /** Ends it as a crash would, with the processes that it has made: none of them may finish what it was doing. */
  async kill() {
    /** @type {readonly number[]} */
    let children = []
    await this.#end((child) => {
      // So that it makes no more of them while they are listed.
      child.kill('SIGSTOP')
      children = childrenOf(child.pid)
      for (const pid of [...children, child.pid]) killIfThere(pid)
    })
    await gone(children)
  }

  async restart() {
    await this.stop()
    await this.start()
  }

  async #makeFolder() {
    const { uid, gid } = serverAccount
    mkdirSync(this.#setting.folder, { mode: 0o700 })
    if (uid !== undefined) chownSync(this.#setting.folder, uid, gid)
    const command = this.#engine.prepare(this.#setting)
    if (command === null) return
    const [code, signal] = await once(this.#spawn(command), 'exit')
    if (code !== 0) throw this.#failure(`${command[0]} ended with ${signal ?? code}`)
  }

  /** @param {readonly string[]} command */
  #spawn(command) {
    return startServerCommand(command, { folder: this.#setting.folder, logFile: this.#logFile })
  }

  /** @param {(child: ChildProcess) => void} ask */
  async #end(ask) {
    const child = this.#child
    if (child === null) return
    const ended = once(child, 'exit')
    const patience = setTimeout(() => child.kill('SIGKILL'), patienceMs)
    ask(child)
    await ended
    clearTimeout(patience)
  }

  /** @param {string} what */
  #failure(what) {
    const lastLines = readFileSync(this.#logFile, 'utf8').trimEnd().split('\n').slice(-8)
    return new Error(`${this.#engine.title} did not start: ${what}. The end of its log:\n  ${lastLines.join('\n  ')}`)
  }
}

/** @param {number} pid */
function killIfThere(pid) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}
