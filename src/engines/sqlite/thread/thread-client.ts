import { Worker } from 'node:worker_threads'
import { type ErrorCode, TreadleError } from '../../../core/errors.ts'
import { ownFile } from '../../../core/files/own-file.ts'
import { onExit } from '../../../core/process/environment.ts'
import type { DriverChoice } from '../file/driver-choice.ts'
import type { Engine, EngineOptions } from './engine.ts'
import type { StandInTerms } from './stand-in.ts'
import { ThreadGate } from './thread-gate.ts'

export type EngineMethod = keyof Engine

export interface ThreadOptions extends EngineOptions {
  readonly driver: DriverChoice
}

/** The data that the thread is started with. */
export interface ThreadData extends ThreadOptions {
  readonly gate: SharedArrayBuffer
}

/** How long an exiting program waits for the call in progress. */
const exitPatienceMs = 10_000

export interface ThreadCall {
  readonly id: number
  readonly method: EngineMethod
  readonly args: readonly unknown[]
}

/** Starts or stops standing in for the program's event loop. Has no answer. */
export type ThreadNotice = { readonly standIn: StandInTerms } | { readonly standDown: number }

export interface ThreadError {
  readonly code: ErrorCode
  readonly message: string
}

export type ThreadAnswer = { readonly id: number } & (
  | { readonly answer: unknown }
  | { readonly error: ThreadError; readonly isLast?: true }
)

/** The thread's first message. */
export const threadStarted = 'started'
/** The thread has been waiting for another program for some seconds. */
export const threadWaits = 'waits'

type ThreadMessage = ThreadAnswer | typeof threadStarted | typeof threadWaits

interface Pending {
  resolve(answer: unknown): void
  reject(error: TreadleError): void
}

/** Calls the engine in the database thread. The thread keeps the process alive only while a call is in progress. */
export class ThreadClient {
  readonly #thread: Worker
  readonly #gate = new ThreadGate()
  readonly #forgetExit: () => void
  readonly #pending = new Map<number, Pending>()
  readonly #started: Promise<boolean>
  #lastId = 0
  #broken: TreadleError | undefined

  constructor(options: ThreadOptions, onWaits: () => void) {
    const workerData: ThreadData = { ...options, gate: this.#gate.buffer }
    const thread = ownFile('engines/sqlite/thread/thread.js')
    // Node would close the files that the thread looked into when it ends, and with them all of SQLite's locks in this process.
    this.#thread = new Worker(thread, { workerData, name: 'treadle-sqlite', trackUnmanagedFds: false })
    this.#forgetExit = onExit(() => this.#gate.close(exitPatienceMs))
    this.#started = new Promise((resolve) => {
      this.#thread.once('message', () => resolve(true))
      this.#thread.once('exit', () => resolve(false))
    })
    this.#thread.on('message', (message: ThreadMessage) => {
      if (message === threadWaits) onWaits()
      else if (message !== threadStarted) this.#settle(message)
    })
    this.#thread.on('error', (cause) => this.#fail('The database thread failed', cause))
    this.#thread.on('exit', () => {
      this.#forgetExit()
      this.#fail('The database thread has ended')
    })
  }

  /** False if the thread could not be loaded: a bundler may have left its file out. */
  async started(): Promise<boolean> {
    const started = await this.#started
    if (this.#pending.size === 0) this.#thread.unref()
    return started
  }

  get idle(): boolean {
    return this.#pending.size === 0
  }

  get broken(): boolean {
    return this.#broken !== undefined
  }

  call<Method extends EngineMethod>(method: Method, args: Parameters<Engine[Method]>): Promise<ReturnType<Engine[Method]>> {
    if (this.#broken !== undefined) return Promise.reject(this.#broken)
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId
      if (this.#pending.size === 0) this.#thread.ref()
      this.#pending.set(id, { resolve: resolve as Pending['resolve'], reject })
      this.#thread.postMessage({ id, method, args } satisfies ThreadCall)
    })
  }

  /** Reaches the thread even if it is still starting and the program's event loop is blocked. */
  tell(notice: ThreadNotice): void {
    if (this.#broken === undefined) this.#thread.postMessage(notice)
  }

  async close(): Promise<void> {
    await this.call('close', [])
    this.#gate.close(exitPatienceMs)
    await this.#thread.terminate()
  }

  #settle(answer: ThreadAnswer): void {
    const pending = this.#pending.get(answer.id)
    this.#pending.delete(answer.id)
    if (this.#pending.size === 0) this.#thread.unref()
    if (!('error' in answer)) {
      pending?.resolve(answer.answer)
      return
    }
    const error = new TreadleError(answer.error.code, answer.error.message)
    // Recorded before the thread has ended, so that a call made in between goes to the next one.
    if (answer.isLast) this.#broken ??= error
    pending?.reject(error)
  }

  #fail(what: string, cause?: Error): void {
    this.#broken ??= new TreadleError('DATABASE_FAILED', cause === undefined ? what : `${what}: ${cause.message}`, { cause })
    for (const { reject } of this.#pending.values()) reject(this.#broken)
    this.#pending.clear()
  }
}
