import { type RetryPolicy, retryDelayMs } from '../../definition/policies/retry.ts'

/** A process that lived this long did not fail on startup. */
const steadyMs = 60_000

const policy: RetryPolicy = { strategy: 'exponential', baseMs: 250, factor: 2, maxMs: 30_000, jitter: 0.25 }

/** How long to wait before replacing a process that died. Grows with each death until a process lives long enough. */
export class RestartDelay {
  #deaths = 0

  /** The delay after another death. */
  next(livedMs: number, random: () => number): number {
    this.#deaths = livedMs >= steadyMs ? 1 : this.#deaths + 1
    return retryDelayMs(policy, this.#deaths, random)
  }
}
