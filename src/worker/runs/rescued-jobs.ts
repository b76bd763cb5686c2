import type { Clock, Timer } from '../../core/time/clock.ts'
import type { Lease } from '../../queue/contract/contract.ts'

export interface RescuedJobsOptions {
  readonly concurrency: number
  readonly maxRescues: number
  readonly clock: Clock
  /** Called when jobs have waited too long in this worker. Other workers may have room for them. */
  readonly onImpatient: () => void
}

/** After each worker that died with the job, it runs together with this many times fewer others. */
const shrinking = 4
/**
 * How long a worker waits for running jobs to end in order to make room for a rescued one. Doubles after each unsuccessful wait.
 */
const firstPatienceMs = 5_000
const longestPatienceMs = 3_600_000
/** How long other jobs wait in the worker while a rescued one runs. */
const othersWaitMs = 250

/**
 * Jobs whose workers have died. Any of the jobs that ran together may have been the cause, so each time they run together with
 * fewer others, and finally alone. Only if a worker dies while running a single job is that job known to be the cause.
 */
export class RescuedJobs {
  readonly #options: RescuedJobsOptions
  /** Maximum number of concurrent jobs, by the token of each running rescued job. */
  readonly #running = new Map<string, number>()
  #patienceMs = firstPatienceMs
  #timer: Timer | undefined

  constructor(options: RescuedJobsOptions) {
    this.#options = options
  }

  /** Maximum number of concurrent jobs, given those that run now. */
  get most(): number {
    return this.#running.size === 0 ? Number.POSITIVE_INFINITY : Math.min(...this.#running.values())
  }

  /** Maximum number of concurrent jobs including this one. */
  mostWith({ rescues = 0 }: Lease): number {
    return mostTogether(rescues, this.#options)
  }

  /** Whether the job is given up if its worker dies once more. It then runs alone, so that a death is certainly its own fault. */
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

  /** The next job has to wait because of a rescued one: for that one to end or, if it is rescued itself, for the others. */
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

/** Maximum number of concurrent jobs in a worker that runs a job with this many rescues. */
export function mostTogether(
  rescues: number,
  { concurrency, maxRescues }: Pick<RescuedJobsOptions, 'concurrency' | 'maxRescues'>,
): number {
  if (!isRescued(rescues)) return Number.POSITIVE_INFINITY
  return rescues >= maxRescues ? 1 : Math.ceil(concurrency / shrinking ** rescues)
}

/** Negative or invalid numbers count as none, because verification of the job will reject them. */
function isRescued(rescues = 0): boolean {
  return rescues >= 1
}
