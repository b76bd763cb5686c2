import { TreadleError } from '../../../core/errors.ts'
import type { Logger } from '../../../core/logger.ts'
import { type Clock, nextTurn, pause, stopwatch, systemClock } from '../../../core/time/clock.ts'
import type { StandIn, StandInRequest } from '../../../queue/contract/contract.ts'
import { type ClockJump, ClockJumps, jumpText } from '../../../queue/time/clock-jumps.ts'
import { loadDriver } from '../file/driver.ts'
import type { Engine, LocalEngine } from './engine.ts'
import { openEngine } from './open-engine.ts'
import { type StandInTerms, standInFor } from './stand-in.ts'
import { type EngineMethod, ThreadClient } from './thread-client.ts'

export interface AccessOptions {
  readonly path: string
  readonly clock: Clock
  readonly logger: Logger
  readonly migrate: boolean
  /** False has the rules alone answer everything. */
  readonly fastPaths: boolean
}

/** How long a transaction waits for those of other processes before it is an error. */
const patienceMs = 30_000
/** A transaction of this thread that finds the file locked tries again after so long. */
const longestPauseMs = 50
/** Where commits take longer than this on average (a busy disk, a spinning one), they are left to the thread. */
const slowCommitMs = 5
/** How much the last call counts in that average. */
const newestShare = 0.1
/** Timers and sockets wait for no longer than this for calls that are made right here, one after the other. */
const longestWithoutTurnMs = 10
/** After this many calls through the thread the disk is tried again. */
const callsUntilRetry = 1_000

/**
 * Two ways to one file. A small call is made right here while nothing else is under way, because a hop to another thread costs
 * as much as half a commit; everything else, and whatever would have to wait, goes to the database's thread.
 */
export class Access {
  readonly #inline: LocalEngine
  readonly #options: AccessOptions
  #opening: Promise<ThreadClient | undefined> | undefined
  #thread: ThreadClient | undefined
  /** The thread from its first moment on, before it is known whether it starts. */
  #started: ThreadClient | undefined
  readonly #standIns = new Map<number, StandInTerms>()
  #lastStandIn = 0
  #inlineMs = 0
  #withoutTurnMs = 0
  #callsUntilInline = 0
  #closed = false
  readonly #jumps: ClockJumps
  #moving: Promise<void> | undefined

  /** Opens and migrates the file in this thread, so that whatever is wrong with it is told at once. */
  static async open(options: AccessOptions): Promise<Access> {
    const Driver = await loadDriver()
    const engine = openEngine(Driver, { ...options, busyMs: patienceMs })
    engine.setPatience(0)
    return new Access(engine, options)
  }

  private constructor(inline: LocalEngine, options: AccessOptions) {
    this.#inline = inline
    this.#options = options
    this.#jumps = new ClockJumps(options.clock)
  }

  /** The file as SQLite calls it. */
  get file(): string {
    return this.#inline.file
  }

  /** The calls that the engine answers by their names, as methods. */
  get parts(): object {
    return this.#inline.parts
  }

  /** Throws where the path does not name the open file any more. */
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

  /** After the clock was set, what counts down is moved before anything else is done. */
  #moved(): Promise<void> | undefined {
    const jump = this.#jumps.look()
    if (jump !== null) this.#moving = this.#move(jump, this.#moving)
    return this.#moving
  }

  async #move(jump: ClockJump, before: Promise<void> | undefined): Promise<void> {
    await before
    this.#options.logger.warn(jumpText(jump))
    // A file that cannot be written to is told by the call that comes next.
    await this.#throughThread('moveTimes', [jump]).catch(() => {})
    this.#moving = undefined
  }

  /** For calls of well under a millisecond. */
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

  /** Whoever waits for one small call after the other would never let the event loop turn: nothing here waits for it. */
  async #turn(): Promise<void> {
    this.#withoutTurnMs = 0
    await nextTurn()
  }

  /** The thread is started for it, also where the event loop stands still from the very next moment on. */
  standIn(request: StandInRequest): StandIn {
    this.refuseClosed()
    const terms = { id: ++this.#lastStandIn, request, beats: new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT) }
    this.#standIns.set(terms.id, terms)
    // Where it cannot be started, the next call tells why.
    if (this.#usable() === undefined && this.#opening === undefined) this.#openThread().catch(() => {})
    else this.#started?.tell({ standIn: terms })
    return standInFor(terms, this.#options.clock, () => {
      if (this.#standIns.delete(terms.id)) this.#started?.tell({ standDown: terms.id })
    })
  }

  /** In this thread whatever else is under way: for what cannot cross to the other one. It waits its turn, but blocks nobody. */
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
      // The lock is another process's or thread's, and its time is not the queue's clock.
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
    const { path, migrate, fastPaths, logger } = this.#options
    // A connection that is opened now has nothing to compare the file with.
    this.checkFile()
    const thread = newThread({ path, busyMs: patienceMs, migrate, fastPaths, identity: this.#inline.identity })
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

/** Undefined in a bundle, which has not the thread's file. */
function newThread(options: ConstructorParameters<typeof ThreadClient>[0]): ThreadClient | undefined {
  try {
    return new ThreadClient(options)
  } catch (thrown) {
    if (thrown instanceof TreadleError && thrown.code === 'PACKAGE_BUNDLED') return undefined
    throw thrown
  }
}
