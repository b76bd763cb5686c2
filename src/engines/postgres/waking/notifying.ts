import { randomToken } from '../../../core/id.ts'
import type { Logger } from '../../../core/logger.ts'
import { pause, stopwatch, systemClock } from '../../../core/time/clock.ts'
import { Watchers } from '../../../queue/backend/watchers.ts'
import type { Watch } from '../../../queue/contract/contract.ts'
import type { SqlDatabase, SqlSession } from '../../sql/session.ts'
import { LateWakes } from '../../sql/waking/late-wakes.ts'
import { type Waker, Word } from '../../sql/waking/waker.ts'
import { openListening } from '../connections/driver.ts'
import { Listener } from './listener.ts'

export interface NotifyingOptions {
  readonly database: SqlDatabase
  /** Each queue has its own. */
  readonly schema: string
  /** Null if this program can notify others but cannot listen. */
  readonly listenUrl: string | null
  readonly logger: Logger
}

/** Minimum time between two notifications, approximately, however much is sent. */
const shortestPauseMs = 5

/**
 * Sent from within a caller's transaction. The sending program reacts to it too, because it does not know when that transaction
 * ends.
 */
const committed = 'committed'

const deafness =
  'NOTIFY does not arrive: the connection seems to lead through a pooler. Workers poll for jobs instead. listenUrl can name the server itself; notify: false turns notifications off.'

/**
 * Wakes this program's workers at once, and those of other programs with NOTIFY. Apart from notifications that are part of a send
 * statement, at most one is in flight; the next leaves when it has returned. Neither delays a caller. A connection listens while
 * there are watchers.
 */
export class NotifyingWaker implements Waker {
  readonly #options: NotifyingOptions
  readonly #channel: string
  readonly #watchers = new Watchers()
  readonly #lateWakes = new LateWakes(() => this.#watchers.notify())
  /** Identifies the sender, so that this program can ignore its own notifications. */
  readonly #self = randomToken()
  readonly #closing = new AbortController()
  #listener: Listener | undefined
  #stopped: Promise<unknown> = Promise.resolve()
  #telling: Promise<void> | undefined
  #sinceOffered: () => number = () => Number.POSITIVE_INFINITY
  #isUntold = false
  #isDeafnessSaid = false

  constructor(options: NotifyingOptions) {
    this.#options = options
    this.#channel = `treadle_${options.schema}`
  }

  word(): Word | null {
    if (this.#telling !== undefined || this.#sinceOffered() < shortestPauseMs) return null
    this.#sinceOffered = stopwatch()
    return new Word(this.#channel, this.#self)
  }

  wake(word: Word | null = null): void {
    this.#watchers.notify()
    if (word?.isSaid !== true) this.#isUntold = true
    this.#telling ??= this.#tell()
  }

  /** The server delivers the notification on commit and drops it on rollback. */
  async wakeAtCommit(session: SqlSession): Promise<void> {
    // Cast to text: some clients cannot read a void column.
    await session.run('SELECT pg_notify(?, ?)::text', [this.#channel, committed])
    if (this.#listener?.isListening !== true) this.#lateWakes.begin()
  }

  watch(wake: () => void): Watch {
    const watch = this.#watchers.watch(wake)
    this.#listen()
    const isPush = () => this.#listener?.isListening ?? false
    return {
      get isPush() {
        return isPush()
      },
      close: () => {
        watch.close()
        if (this.#watchers.size === 0) this.#unlisten()
      },
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    this.#lateWakes.end()
    this.#watchers.close()
    this.#unlisten()
    await this.#stopped
    await this.#telling
  }

  async #tell(): Promise<void> {
    do {
      if (this.#isUntold) {
        this.#isUntold = false
        // A lost notification costs time but no job: other programs poll anyway.
        await this.#say(this.#self).catch(() => {})
      }
      await pause(systemClock, shortestPauseMs, this.#closing.signal)
    } while (this.#isUntold)
    this.#telling = undefined
  }

  /** A notification is a commit too, but need not be on disk before it is delivered. */
  async #say(text: string): Promise<unknown> {
    const saying = "SELECT set_config('synchronous_commit', 'off', true), pg_notify(?, ?)::text"
    return this.#options.database.run(saying, [this.#channel, text])
  }

  #listen(): void {
    const { listenUrl, logger } = this.#options
    if (this.#listener !== undefined || listenUrl === null || this.#closing.signal.aborted) return
    this.#listener = new Listener({
      channel: this.#channel,
      open: () => openListening(listenUrl),
      notify: (text) => this.#say(text),
      onHeard: (text) => {
        if (text !== this.#self) this.#watchers.notify()
      },
      onListening: () => this.#watchers.notify(),
      onDeaf: () => {
        if (!this.#isDeafnessSaid) logger.warn(deafness)
        this.#isDeafnessSaid = true
      },
    })
  }

  #unlisten(): void {
    const listener = this.#listener
    this.#listener = undefined
    if (listener !== undefined) this.#stopped = Promise.all([this.#stopped, listener.stop()])
  }
}
