import type { ClaimableJob, LeaseRequest, QueueLimits, Rate } from '../../src/queue/contract/contract.ts'
import type { ModelJob, ModelQueue } from './model-queue.ts'
import type { LimitSpec, ProgramSpec } from './operations.ts'

/** When jobs of each scope were claimed. */
type Log = Map<string, number[]>

/** Every limit of a program, checked by counting. */
export class LimitsModel {
  readonly #queue: ModelQueue
  readonly #spec: ProgramSpec
  readonly #nameOf: (job: number) => string
  readonly #claims: Log = new Map()

  constructor(queue: ModelQueue, spec: ProgramSpec, nameOf: (job: number) => string) {
    this.#queue = queue
    this.#spec = spec
    this.#nameOf = nameOf
  }

  claimable(only: number | null): readonly ClaimableJob[] {
    return this.#spec.limits.flatMap((limits, job) =>
      only !== null && only !== job ? [] : [{ job: this.#nameOf(job), ...claimLimits(limits) }],
    )
  }

  queueLimits(queue: string): LeaseRequest['queueLimits'] {
    const { queueConcurrency: concurrency, queueRate: rate } = this.#spec
    return concurrency === null && rate === null ? [] : [{ queue, concurrency, rate } satisfies QueueLimits]
  }

  /** Whether one more job like this may be claimed now. */
  allows(job: ModelJob, now: number, limitedQueue: string): boolean {
    return this.#scopesOf(job, limitedQueue).every(({ name, members, concurrency, rate }) => {
      const running = this.#queue.all().filter((each) => each.state === 'running' && members(each)).length
      return (concurrency === null || running < concurrency) && (rate === null || this.#tokens(name, rate, now) > 0)
    })
  }

  /** Which limit is broken, if one is. */
  broken(job: ModelJob, now: number, limitedQueue: string): string | undefined {
    return this.#scopesOf(job, limitedQueue).find(({ name, members, concurrency, rate }) => {
      const running = this.#queue.all().filter((each) => each.state === 'running' && members(each)).length
      return (concurrency !== null && running > concurrency) || (rate !== null && this.#tokens(name, rate, now) < 0)
    })?.name
  }

  note(job: ModelJob, now: number, limitedQueue: string): void {
    for (const { name } of this.#scopesOf(job, limitedQueue)) this.#claims.set(name, [...(this.#claims.get(name) ?? []), now])
  }

  #tokens(scope: string, { limit, perMs }: Rate, now: number): number {
    return limit - (this.#claims.get(scope) ?? []).filter((at) => at > now - perMs).length
  }

  #scopesOf(job: ModelJob, limitedQueue: string): readonly Scope[] {
    const spec = this.#spec.limits.find((_, index) => this.#nameOf(index) === job.job) as LimitSpec
    const scopes: Scope[] = [
      { name: `job ${job.job}`, members: (each) => each.job === job.job, concurrency: spec.concurrency, rate: spec.rate },
    ]
    if (job.group !== null) {
      const members = (each: ModelJob) => each.job === job.job && each.group === job.group
      const name = `group ${job.group} of ${job.job}`
      scopes.push({ name, members, concurrency: spec.groupConcurrency, rate: spec.groupRate })
    }
    if (job.queue === limitedQueue) {
      const { queueConcurrency: concurrency, queueRate: rate } = this.#spec
      scopes.push({ name: `queue ${job.queue}`, members: (each) => each.queue === job.queue, concurrency, rate })
    }
    return scopes
  }
}

interface Scope {
  readonly name: string
  readonly members: (job: ModelJob) => boolean
  readonly concurrency: number | null
  readonly rate: Rate | null
}

function claimLimits({ concurrency, rate, groupConcurrency, groupRate }: LimitSpec): Omit<ClaimableJob, 'job'> {
  const hasGroupLimits = groupConcurrency !== null || groupRate !== null
  return {
    concurrency,
    ...(rate !== null && { rate }),
    ...(hasGroupLimits && { group: { concurrency: groupConcurrency, rate: groupRate } }),
  }
}
