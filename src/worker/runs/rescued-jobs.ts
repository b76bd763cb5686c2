import type { Clock, Timer } from '../../core/time/clock.ts'
import type { Lease } from '../../queue/contract/contract.ts'

export interface RescuedJobsOptions {
  readonly concurrency: number
  readonly maxRescues: number
  readonly clock: Clock
  /** What waits in the worker has waited for too long: others may have room for it. */
  readonly onImpatient: () => void
}

/** Each time that a worker has died with a job, it runs beside so many times fewer others. */
const shrinking = 4
/** So long a worker waits for running jobs to end, to make room for a rescued one; twice as long after each time in vain. */
const firstPatienceMs = 5_000
const longestPatienceMs = 3_600_000
/** So long other jobs wait in the worker while a rescued one runs. */
const othersWaitMs = 250

/**
 * Jobs whose workers have died. Any of those that ran together may have been the reason, so they run beside fewer others each time,
 * and at last alone: only a worker that dies with nothing but one job shows that it was that job.
 */
export class RescuedJobs {
  readonly #options: RescuedJobsOptions
  /** How many may run in all, by the token of each rescued job that runs. */
  readonly #running = new Map<string, number>()
  #patienceMs = firstPatienceMs
  #timer: Timer | undefined

  constructor(options: RescuedJobsOptions) {
    this.#options = options
  }

  /** How many jobs may run at once beside those that run now. */
  get most(): number {
    return this.#running.size === 0 ? Number.POSITIVE_INFINITY : Math.min(...this.#running.values())
  }

  /** How many may run at once, this one among them. */
  mostWith({ rescues = 0 }: Lease): number {
    return mostTogether(rescues, this.#options)
  }

  /** If its worker dies once more, the job is given up: its death must be its own. */
  isLastChance({ rescues = 0 }: Lease): boolean {
    return rescues >= Math.max(1, this.#options.maxRescues)
  }

  started(lease: Lease): void {
    this.#stopWaiting()
    if (!isRescued(lease.rescues)) return
    this.#patienceMs = firstPatienceMs
    this.#running.set(lease.token, this.mostWith(lease))
  }

  ended({ token }: Lease): void {
    if (this.#running.size > 0) this.#running.delete(token)
  }

  /** The next job has to wait because of a rescued one: for that to end, or, where it is rescued itself, for the others. */
  wait(isRescued: boolean): void {
    const patienceMs = isRescued ? this.#patienceMs : othersWaitMs
    this.#timer ??= this.#options.clock.timer(patienceMs, () => {
      this.#timer = undefined
      if (isRescued) this.#patienceMs = Math.min(this.#patienceMs * 2, longestPatienceMs)
      this.#options.onImpatient()
    })
  }

  stop(): void {
    this.#stopWaiting()
  }

  #stopWaiting(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }
}

/** How many jobs may run at once in a worker with one that was rescued so often. */
export function mostTogether(
  rescues: number,
  { concurrency, maxRescues }: Pick<RescuedJobsOptions, 'concurrency' | 'maxRescues'>,
): number {
  if (!isRescued(rescues)) return Number.POSITIVE_INFINITY
  return rescues >= maxRescues ? 1 : Math.ceil(concurrency / shrinking ** rescues)
}

/** Less than none, and what is no number, are none: whoever verifies the job refuses it. */
function isRescued(rescues = 0): boolean {
  return rescues >= 1
}
