import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { serverAccount } from './account.mjs'
import { childrenOf } from './children.mjs'
import { freePort } from './port.mjs'
import { answering } from './readiness.mjs'

const patienceMs = 20_000
const startsOnAnyPort = 3

/** A server that is run from an installed program, on one port and one data folder for as long as this object lives. */
export class ServerProcess {
  #engine
  #setting
  #logFile
  #account = serverAccount()
  /** @type {import('node:child_process').ChildProcess | null} */
  #child = null

  /**
   * @param {import('./engine.mjs').Engine} engine
   * @param {{ programs: Readonly<Record<string, string>>, folder: string, durable: boolean }} setting
   */
  constructor(engine, { programs, folder, durable }) {
    this.#engine = engine
    this.#setting = { programs, folder: join(folder, engine.container), durable, port: 0 }
    this.#logFile = join(folder, `${engine.container}.log`)
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
    for (let tries = 1; ; tries++) {
      this.#setting.port = await freePort()
      try {
        return await this.start()
      } catch (problem) {
        if (tries === startsOnAnyPort) throw problem
      }
    }
  }

  async start() {
    if (this.#child !== null) return
    const child = this.#spawn(this.#engine.run(this.#setting))
    this.#child = child
    child.once('exit', () => {
      if (this.#child === child) this.#child = null
    })
    try {
      await answering(
        () => this.#engine.ping(this.url),
        () => this.#child !== child,
      )
    } catch (problem) {
      await this.kill()
      throw this.#problem(problem.message)
    }
  }

  async stop() {
    await this.#end((child) => child.kill(this.#engine.stopSignal))
  }

  /** Ends it as a crash would, together with the processes that it has made: they must not go on where their server is gone. */
  async kill() {
    await this.#end((child) => {
      child.kill('SIGSTOP')
      for (const pid of [...childrenOf(child.pid), child.pid]) killIfThere(pid)
    })
  }

  async restart() {
    await this.stop()
    await this.start()
  }

  async #makeFolder() {
    const { folder } = this.#setting
    const { uid, gid } = this.#account
    mkdirSync(folder)
    chmodSync(folder, 0o700)
    if (uid !== undefined) chownSync(folder, uid, gid)
    const command = this.#engine.prepare(this.#setting)
    if (command === null) return
    const [code, signal] = await once(this.#spawn(command), 'exit')
    if (code !== 0) throw this.#problem(`${command[0]} ended with ${signal ?? code}`)
  }

  /** @param {readonly string[]} command */
  #spawn([program, ...args]) {
    const log = openSync(this.#logFile, 'a')
    try {
      // Programs that make data folders look into the current one, which their user may not be allowed to.
      return spawn(program, args, { ...this.#account, cwd: this.#setting.folder, stdio: ['ignore', log, log] })
    } finally {
      closeSync(log)
    }
  }

  /** @param {(child: import('node:child_process').ChildProcess) => void} ask */
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
  #problem(what) {
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
