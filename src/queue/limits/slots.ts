import type { JobLimits, QueueLimits, Rate } from '../contract/limits.ts'
import { rateScope } from './rate-scope.ts'
import type { Tokens } from './rate-tokens.ts'

/** The jobs of one queue and key. */
export interface SlottedLane {
  readonly queue: string
  readonly job: string
  /** 1 if its jobs run alone. */
  readonly single: number
}

export interface SlotsParts {
  readonly jobs: ReadonlyMap<string, JobLimits>
  readonly queues: readonly QueueLimits[]
  readonly running: {
    /** How many jobs with this key are running. */
    runningOf(job: string): number
    /** How many jobs of this queue are running. */
    runningIn(queue: string): number
  }
  readonly tokens: (scope: string, rate: Rate) => Tokens
}

/** What one limit still allows. */
interface Allowance {
  free: number
  readonly tokens: Tokens | null
}

const unlimited: Allowance = { free: Number.POSITIVE_INFINITY, tokens: null }

/** How many more jobs of each key and each queue one claim may start. */
export class Slots {
  readonly #parts: SlotsParts
  readonly #alone: ReadonlySet<string>
  readonly #queueLimits: ReadonlyMap<string, QueueLimits> | null
  readonly #byJob = new Map<string, Allowance>()
  readonly #byQueue = new Map<string, Allowance>()

  constructor(parts: SlotsParts, lanes: readonly SlottedLane[]) {
    this.#parts = parts
    // A job that must run alone makes its whole key run one at a time.
    this.#alone = new Set(lanes.filter(({ single }) => single === 1).map(({ job }) => job))
    this.#queueLimits = parts.queues.length === 0 ? null : new Map(parts.queues.map((each) => [each.queue, each]))
  }

  free(lane: SlottedLane): number {
    const free = leftOf(this.#jobAllowance(lane.job))
    return this.#queueLimits === null ? free : Math.min(free, leftOf(this.#queueAllowance(lane.queue)))
  }

  take(lane: SlottedLane): boolean {
    if (this.free(lane) <= 0) return false
    takeOf(this.#jobAllowance(lane.job))
    if (this.#queueLimits !== null) takeOf(this.#queueAllowance(lane.queue))
    return true
  }

  /** The lanes whose first jobs may all start together. */
  together<Lane extends SlottedLane>(lanes: readonly Lane[]): readonly Lane[] {
    const reserved = new Map<Allowance, number>()
    return lanes.filter(({ job, queue }) => {
      const allowances = [this.#jobAllowance(job), this.#queueAllowance(queue)]
      if (allowances.some((each) => (reserved.get(each) ?? 0) >= leftOf(each))) return false
      for (const each of allowances) reserved.set(each, (reserved.get(each) ?? 0) + 1)
      return true
    })
  }

  /** The rates that this claim has checked. */
  get tokens(): readonly Tokens[] {
    return [...this.#byJob.values(), ...this.#byQueue.values()].flatMap(({ tokens }) => tokens ?? [])
  }

  /** Computed only when needed: a claim reaches few of the ready keys. */
  #jobAllowance(job: string): Allowance {
    const limits = this.#parts.jobs.get(job)
    const limit = this.#alone.has(job) ? 1 : (limits?.concurrency ?? null)
    const rate = limits?.rate ?? null
    if (limit === null && rate === null) return unlimited
    const known = this.#byJob.get(job)
    if (known !== undefined) return known
    const allowance = this.#allowance(limit, () => this.#parts.running.runningOf(job), rate, rateScope.job(job))
    this.#byJob.set(job, allowance)
    return allowance
  }

  #queueAllowance(queue: string): Allowance {
    const limits = this.#queueLimits?.get(queue)
    if (limits === undefined) return unlimited
    const known = this.#byQueue.get(queue)
    if (known !== undefined) return known
    const { concurrency, rate } = limits
    const allowance = this.#allowance(concurrency, () => this.#parts.running.runningIn(queue), rate, rateScope.queue(queue))
    this.#byQueue.set(queue, allowance)
    return allowance
  }

  #allowance(limit: number | null, running: () => number, rate: Rate | null, scope: string): Allowance {
    return {
      free: limit === null ? Number.POSITIVE_INFINITY : limit - running(),
      tokens: rate === null ? null : this.#parts.tokens(scope, rate),
    }
  }
}

function leftOf({ free, tokens }: Allowance): number {
  return tokens === null ? free : Math.min(free, tokens.left)
}

function takeOf(allowance: Allowance): void {
  if (allowance === unlimited) return
  allowance.free--
  allowance.tokens?.take()
}
