import { type RetryPolicy, retryDelayMs } from '../../definition/policies/retry.ts'

/** One that lived for so long did not die of its start. */
const steadyMs = 60_000

const policy: RetryPolicy = { strategy: 'exponential', baseMs: 250, factor: 2, maxMs: 30_000, jitter: 0.25 }

/** How long to wait before the next process is started in the place of one that died: longer each time, until one lives for long. */
export class RestartDelay {
  #deaths = 0

  /** After one more death. */
  next(livedMs: number, random: () => number): number {
    this.#deaths = livedMs >= steadyMs ? 1 : this.#deaths + 1
    return retryDelayMs(policy, this.#deaths, random)
  }
}
