import type { Clock, Timer } from '../../core/time/clock.ts'
import type { WorkerPresence, WorkerStore } from '../../queue/contract/stores/worker-store.ts'

export interface PresenceOptions {
  readonly workers: WorkerStore
  readonly owner: string
  readonly clock: Clock
  readonly leaseMs: number
  /** The current state of the worker. */
  readonly describe: () => WorkerPresence
  readonly onError: (error: unknown) => void
}

/** Maximum time between two announcements of a worker, however long its leases are. */
const longestSilenceMs = 10_000
/** Number of missed announcements after which a worker counts as dead. */
const missedTurns = 3

/**
 * Maintains the row that shows that a worker is alive. If it cannot be written, that is reported once and the worker continues.
 */
export class Presence {
  readonly #options: PresenceOptions
  readonly #intervalMs: number
  #timer: Timer | undefined
  #announcing: Promise<void> = Promise.resolve()
  #isAnnounced = false
  #isFailing = false
  #stopped = false

  constructor(options: PresenceOptions) {
    this.#options = options
    this.#intervalMs = Math.min(Math.floor(options.leaseMs / 3), longestSilenceMs)
  }

  /** Announces the worker now and then periodically. */
  start(): void {
    this.#announcing = this.#announce()
  }

  /** For a worker that usually ends before its first announcement. */
  startLater(): void {
    this.#timer = this.#options.clock.timer(this.#intervalMs, () => this.start(), { unref: true })
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#timer?.cancel()
    await this.#announcing
    if (this.#isAnnounced) await this.#try(({ workers, owner }) => workers.leave(owner))
  }

  async #announce(): Promise<void> {
    this.#isAnnounced = true
    await this.#try(({ workers, describe }) => workers.announce(describe(), this.#intervalMs * missedTurns))
    if (!this.#stopped) this.startLater()
  }

  async #try(call: (options: PresenceOptions) => Promise<void>): Promise<void> {
    try {
      await call(this.#options)
      this.#isFailing = false
    } catch (error) {
      if (!this.#isFailing) this.#options.onError(error)
      this.#isFailing = true
    }
  }
}
