import { type Clock, nextTurn, pause, stopwatchOf } from '../../core/time/clock.ts'

/** How long a shutdown waits for the queue in all, not counting jobs that run and outcomes that are being written. */
export const closingMs = 5_000
/** The same after a second signal. */
export const hurriedMs = 2_000

/**
 * The calls that a shutdown still makes to the queue. They share one deadline, so that a queue that does not answer delays the
 * end once and not once for each call. Calls that are no longer waited for end by themselves.
 */
export class LastCalls {
  readonly #clock: Clock
  readonly #onSilent: (message: string) => void
  readonly #hurried = new AbortController()
  #leftMs = closingMs
  #isSilent = false

  /** `onSilent` is called once, if the deadline passes before all calls are answered. */
  constructor(clock: Clock, onSilent: (message: string) => void) {
    this.#clock = clock
    this.#onSilent = onSilent
  }

  /** Whether the deadline has passed before all calls were answered. */
  get isSilent(): boolean {
    return this.#isSilent
  }

  /** From now on there is less time. */
  hurry(mostMs = hurriedMs): void {
    this.#leftMs = Math.min(this.#leftMs, mostMs)
    this.#hurried.abort()
  }

  /** Resolves when all of them have ended, or at the deadline. Rejects if one of them does so before. */
  async ended(...calls: readonly (Promise<unknown> | undefined)[]): Promise<void> {
    const answered = new AbortController()
    const all = Promise.all(calls).finally(() => answered.abort())
    await Promise.race([all, this.#deadline(answered.signal)])
    // A failure after the deadline concerns nobody.
    all.catch(() => {})
  }

  async #deadline(answered: AbortSignal): Promise<void> {
    const elapsedMs = stopwatchOf(this.#clock)
    const isOver = () => answered.aborted || elapsedMs() >= this.#leftMs
    while (!isOver()) {
      const leftMs = this.#leftMs - elapsedMs()
      const signals = this.#hurried.signal.aborted ? [answered] : [answered, this.#hurried.signal]
      await pause(this.#clock, leftMs, AbortSignal.any(signals))
    }
    this.#leftMs = Math.max(0, this.#leftMs - elapsedMs())
    // What has ended by now counts, even if it fails.
    await nextTurn()
    if (answered.aborted || this.#isSilent) return
    this.#isSilent = true
    this.#onSilent(unanswered)
  }
}

const unanswered =
  'the queue did not answer during the shutdown: jobs that could not be returned run again when their leases expire'
