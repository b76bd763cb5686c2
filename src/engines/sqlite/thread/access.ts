import { TreadleError } from '../../../core/errors.ts'
import type { Logger } from '../../../core/logger.ts'
import { type Clock, nextTurn, pause, stopwatch, systemClock } from '../../../core/time/clock.ts'
import { formatDuration } from '../../../core/time/duration.ts'
import type { StandIn, StandInRequest } from '../../../queue/contract/contract.ts'
import { type ClockJump, ClockJumps, jumpText } from '../../../queue/time/clock-jumps.ts'
import type { ChosenDriver } from '../file/driver-choice.ts'
import type { Engine, LocalEngine } from './engine.ts'
import { openEngine } from './open-engine.ts'
import { type StandInTerms, standInFor } from './stand-in.ts'
import { type EngineMethod, ThreadClient } from './thread-client.ts'

export interface AccessOptions {
  readonly path: string
  readonly driver: ChosenDriver
  readonly clock: Clock
  readonly logger: Logger
  readonly migrate: boolean
  /** False turns the fast paths off, so that the rules handle every call. */
  readonly fastPaths: boolean
}

/** How long a transaction waits for those of other processes before it fails. */
const patienceMs = 30_000
/** Longest pause before a transaction in this thread tries a locked file again. */
const longestPauseMs = 50
/** If commits take longer than this on average (on a busy or spinning disk), they are left to the database thread. */
const slowCommitMs = 5
/** Weight of the latest call in that average. */
const newestShare = 0.1
/** How long consecutive calls in this thread may keep timers and sockets waiting. */
const longestWithoutTurnMs = 10
/** Number of calls through the thread before this thread tries the disk again. */
const callsUntilRetry = 1_000

/**
 * Two ways to access one file. Small calls run in this thread while nothing else is in progress, because a hop to another thread
 * costs as much as half a commit. Everything else, and any call that would have to wait, goes to the database thread.
 */
export class Access {
  readonly #inline: LocalEngine
  readonly #options: AccessOptions
  #opening: Promise<ThreadClient | undefined> | undefined
  #thread: ThreadClient | undefined
  /** The thread from the moment it is created, before it is known whether it starts. */
  #started: ThreadClient | undefined
  readonly #standIns = new Map<number, StandInTerms>()
  #lastStandIn = 0
  #inlineMs = 0
  #withoutTurnMs = 0
  #callsUntilInline = 0
  #closed = false
  readonly #jumps: ClockJumps
  #moving: Promise<void> | undefined

  /** Opens and migrates the file in this thread, so that any problem with it is reported immediately. */
  static async open(options: AccessOptions): Promise<Access> {
    const engine = openEngine(options.driver.Driver, { ...options, busyMs: patienceMs })
    engine.setPatience(0)
    return new Access(engine, options)
  }

  private constructor(inline: LocalEngine, options: AccessOptions) {
    this.#inline = inline
    this.#options = options
    this.#jumps = new ClockJumps(options.clock)
  }

  /** The path as SQLite reports it. */
  get file(): string {
    return this.#inline.file
  }

  /** The calls that the engine answers by name, as methods. */
  get parts(): object {
    return this.#inline.parts
  }

  /** Throws if the path no longer refers to the open file. */
  checkFile(): void {
    this.#inline.checkFile()
  }

  refuseClosed(): void {
    if (this.#closed) throw new TreadleError('BACKEND_CLOSED', `${this.#options.path} was closed. Open a new instance.`)
  }

  async call<Method extends EngineMethod>(method: Method, args: Parameters<Engine[Method]>): Promise<ReturnType<Engine[Method]>> {
    this.refuseClosed()
    const moving = this.#moved()
    if (moving !== undefined) await moving
    return this.#throughThread(method, args)
  }

  async #throughThread<Method extends EngineMethod>(
    method: Method,
    args: Parameters<Engine[Method]>,
  ): Promise<ReturnType<Engine[Method]>> {
    const thread = this.#usable() ?? (await this.#openThread())
    return thread === undefined ? this.#here(method, args) : thread.call(method, args)
  }

  /** After the clock was set, running deadlines are shifted before any other call. */
  #moved(): Promise<void> | undefined {
    const jump = this.#jumps.look()
    if (jump !== null) this.#moving = this.#move(jump, this.#moving)
    return this.#moving
  }

  async #move(jump: ClockJump, before: Promise<void> | undefined): Promise<void> {
    await before
    this.#options.logger.warn(jumpText(jump))
    // If the file cannot be written, the next call reports it.
    await this.#throughThread('moveTimes', [jump]).catch(() => {})
    this.#moving = undefined
  }

  /** For calls that take well under a millisecond. */
  async callInline<Method extends EngineMethod>(
    method: Method,
    args: Parameters<Engine[Method]>,
  ): Promise<ReturnType<Engine[Method]>> {
    if (this.#withoutTurnMs > longestWithoutTurnMs) await this.#turn()
    this.refuseClosed()
    const moving = this.#moved()
    if (moving !== undefined) await moving
    if (this.#callsUntilInline > 0) this.#callsUntilInline--
    const busy = this.#callsUntilInline > 0 || (this.#thread !== undefined && !this.#thread.idle)
    if (busy) return this.call(method, args)
    const elapsedMs = stopwatch()
    try {
      return this.#here(method, args)
    } catch (thrown) {
      if (thrown instanceof TreadleError && thrown.code === 'DATABASE_BUSY') return this.call(method, args)
      throw thrown
    } finally {
      this.#noteInline(elapsedMs())
    }
  }

  /** A program that awaits small calls in a row would starve the event loop, because none of them really waits. */
  async #turn(): Promise<void> {
    this.#withoutTurnMs = 0
    await nextTurn()
  }

  /** Starts the thread immediately, even if the event loop blocks from the next moment on. */
  standIn(request: StandInRequest): StandIn {
    this.refuseClosed()
    const terms = { id: ++this.#lastStandIn, request, beats: new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT) }
    this.#standIns.set(terms.id, terms)
    // If it cannot be started, the next call reports why.
    if (this.#usable() === undefined && this.#opening === undefined) this.#openThread().catch(() => {})
    else this.#started?.tell({ standIn: terms })
    return standInFor(terms, this.#options.clock, () => {
      if (this.#standIns.delete(terms.id)) this.#started?.tell({ standDown: terms.id })
    })
  }

  /** Always runs in this thread, for work that cannot cross to the other one. Waits for the file without blocking. */
  async callHere<Answer>(work: (engine: LocalEngine) => Answer): Promise<Answer> {
    const elapsedMs = stopwatch()
    await this.#moved()
    for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      this.refuseClosed()
      try {
        return work(this.#inline)
      } catch (thrown) {
        const isBusy = thrown instanceof TreadleError && thrown.code === 'DATABASE_BUSY'
        if (!isBusy || elapsedMs() > patienceMs) throw thrown
      }
      // The lock is held by another process or thread, whose time does not follow the queue's clock.
      await pause(systemClock, pauseMs)
    }
  }

  #noteInline(elapsedMs: number): void {
    this.#withoutTurnMs += elapsedMs
    this.#inlineMs += (elapsedMs - this.#inlineMs) * newestShare
    if (this.#inlineMs <= slowCommitMs) return
    this.#inlineMs = 0
    this.#callsUntilInline = callsUntilRetry
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#standIns.clear()
    const thread = await this.#opening?.catch(() => undefined)
    try {
      if (thread !== undefined && !thread.broken) await thread.close()
    } finally {
      this.#inline.close()
    }
  }

  #here<Method extends EngineMethod>(method: Method, args: Parameters<Engine[Method]>): ReturnType<Engine[Method]> {
    const work = this.#inline[method] as (...args: Parameters<Engine[Method]>) => ReturnType<Engine[Method]>
    return work.apply(this.#inline, args)
  }

  #usable(): ThreadClient | undefined {
    if (this.#thread?.broken !== true) return this.#thread
    this.#thread = undefined
    this.#opening = undefined
    return undefined
  }

  #openThread(): Promise<ThreadClient | undefined> {
    this.#opening ??= this.#startThread().catch((thrown) => {
      this.#opening = undefined
      throw thrown
    })
    return this.#opening
  }

  async #startThread(): Promise<ThreadClient | undefined> {
    const { path, driver, migrate, fastPaths, logger } = this.#options
    // A newly opened connection has nothing to compare the file with, so check it first.
    this.checkFile()
    const { identity } = this.#inline
    const terms = { path, driver: driver.choice, busyMs: patienceMs, migrate, fastPaths, identity }
    const thread = newThread(terms, () =>
      logger.warn(`${path} is locked by another program: waiting for up to ${formatDuration(patienceMs)}`),
    )
    this.#started = thread
    for (const terms of this.#standIns.values()) thread?.tell({ standIn: terms })
    if (thread !== undefined && (await thread.started())) {
      this.#thread = thread
      return thread
    }
    const advice = "leave treadle out of the bundle, with external: ['treadle'] or what your bundler calls it"
    logger.warn(
      `the database thread could not be started: SQLite works in the main thread instead. Where this program is bundled, ${advice}`,
    )
    this.#inline.setPatience(patienceMs)
    return undefined
  }
}

/** Undefined in a bundle, which does not contain the thread's file. */
function newThread(...parts: ConstructorParameters<typeof ThreadClient>): ThreadClient | undefined {
  try {
    return new ThreadClient(...parts)
  } catch (thrown) {
    if (thrown instanceof TreadleError && thrown.code === 'PACKAGE_BUNDLED') return undefined
    throw thrown
  }
}
