import { type Clock, stopwatchOf } from '../../core/time/clock.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import type { Lease, QueueLimits, Rate } from '../../queue/contract/contract.ts'
import { isSameRate } from '../../queue/contract/limits.ts'
import { nextTokenAt, type RateLog, withTaken } from '../../queue/rules/limits/rate-window.ts'

export interface StartRatesOptions {
  readonly definitions: () => readonly JobDefinition[]
  readonly queueLimits: readonly QueueLimits[]
  readonly clock: Clock
}

/** The recent starts under the rate limits of one job; null if there is no such limit. */
interface JobStarts {
  readonly all: ScopeStarts | null
  readonly groups: ScopeStarts | null
}

/** Jobs are held back before they take a slot and again before their handlers are called. */
export interface StartPace {
  readonly runs: StartRates
  readonly handlers: StartRates
}

export function startPace(options: StartRatesOptions): StartPace {
  return { runs: new StartRates(options), handlers: new StartRates(options) }
}

/**
 * Counts starts in this process against the rate limits of jobs, groups and queues. The queue counts claims, but jobs may wait
 * between claim and start. Time is measured with a monotonic clock: it may be too short, never too long.
 */
export class StartRates {
  readonly #options: StartRatesOptions
  readonly #elapsedMs: () => number
  readonly #queues: ReadonlyMap<string, ScopeStarts>
  #definitions: readonly JobDefinition[] = []
  #jobs: ReadonlyMap<string, JobStarts> = new Map()

  constructor(options: StartRatesOptions) {
    this.#options = options
    this.#elapsedMs = stopwatchOf(options.clock)
    this.#queues = new Map(
      options.queueLimits.flatMap(({ queue, rate }) => (rate === null ? [] : [[queue, new ScopeStarts(rate)]])),
    )
  }

  /** How long its rate limits hold the job back; 0 if it may start now. */
  heldMs(lease: Lease): number {
    if (!this.#hasRates) return 0
    const now = this.#elapsedMs()
    let heldMs = 0
    this.#each(lease, (starts, scope) => {
      heldMs = Math.max(heldMs, starts.heldMs(scope, now))
    })
    return heldMs
  }

  started(lease: Lease): void {
    if (!this.#hasRates) return
    const now = this.#elapsedMs()
    this.#each(lease, (starts, scope) => starts.started(scope, now))
  }

  /**
   * The handler that was started last has been called and has returned control. If the process was suspended in between, the
   * handler began later than counted. So its start is moved to the latest possible time.
   */
  called(lease: Lease): void {
    if (!this.#hasRates) return
    const now = this.#elapsedMs()
    this.#each(lease, (starts, scope) => starts.called(scope, now))
  }

  get #hasRates(): boolean {
    const definitions = this.#options.definitions()
    if (definitions !== this.#definitions) {
      this.#definitions = definitions
      this.#jobs = ratesOf(definitions, this.#jobs)
    }
    return this.#jobs.size > 0 || this.#queues.size > 0
  }

  #each({ envelope: { job, queue, group } }: Lease, visit: (starts: ScopeStarts, scope: string) => void): void {
    const starts = this.#jobs.get(job)
    if (starts?.all) visit(starts.all, job)
    if (starts?.groups && group !== null) visit(starts.groups, group)
    const queueStarts = this.#queues.get(queue)
    if (queueStarts !== undefined) visit(queueStarts, queue)
  }
}

/** Only for jobs that have a rate limit. Starts counted under an unchanged limit are kept. */
function ratesOf(definitions: readonly JobDefinition[], before: ReadonlyMap<string, JobStarts>): ReadonlyMap<string, JobStarts> {
  const jobs = new Map<string, JobStarts>()
  for (const { job, fields } of definitions) {
    const known = before.get(job)
    const all = startsUnder(fields.rate, known?.all)
    const groups = startsUnder(fields.group?.rate, known?.groups)
    if (all !== null || groups !== null) jobs.set(job, { all, groups })
  }
  return jobs
}

function startsUnder(rate: Rate | null | undefined, known: ScopeStarts | null | undefined): ScopeStarts | null {
  if (!rate) return null
  return known && isSameRate(known.rate, rate) ? known : new ScopeStarts(rate)
}

/** Maximum share of the window by which a start may be moved. */
const longestCallShare = 1 / 20

/** The recent starts under one rate limit, per scope: a job, a queue, or each group of a job. */
class ScopeStarts {
  readonly rate: Rate
  /** Ordered by last start, the most recent last. */
  readonly #logs = new Map<string, RateLog>()

  constructor(rate: Rate) {
    this.rate = rate
  }

  heldMs(scope: string, now: number): number {
    const log = this.#logs.get(scope)
    return log === undefined ? 0 : nextTokenAt(log, this.rate, now) - now
  }

  started(scope: string, now: number): void {
    const log = withTaken(this.#logs.get(scope) ?? [], this.rate, now, 1)
    this.#logs.delete(scope)
    this.#logs.set(scope, log)
    this.#forgetBefore(now - this.rate.perMs)
  }

  called(scope: string, now: number): void {
    const log = this.#logs.get(scope)
    const [at, count] = log?.at(-1) ?? [now, 0]
    // Synchronous work at the start of a handler must not make the rate limit stricter.
    const calledAt = Math.min(now, at + this.rate.perMs * longestCallShare)
    if (log === undefined || calledAt <= at) return
    const before = count > 1 ? [...log.slice(0, -1), [at, count - 1] as const] : log.slice(0, -1)
    this.#logs.set(scope, [...before, [calledAt, 1]])
  }

  /** Each scope is removed once, so the cost does not grow with the number of scopes. */
  #forgetBefore(begin: number): void {
    for (const [scope, log] of this.#logs) {
      const [last] = log.at(-1) ?? [begin]
      if (last > begin) return
      this.#logs.delete(scope)
    }
  }
}
