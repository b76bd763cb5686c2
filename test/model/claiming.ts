import assert from 'node:assert/strict'
import type { LeaseRequest } from '../../src/queue/contract/contract.ts'
import { type Ground, maxRescues } from './ground.ts'
import type { ModelJob } from './model-queue.ts'
import type { Operation } from './operations.ts'

/** Claims, and what must be true of whatever was claimed and of what was left. */
export class Claiming {
  readonly #ground: Ground

  constructor(ground: Ground) {
    this.#ground = ground
  }

  async claim({ owner, limit, leaseMs, job, queue, ageingMs }: Extract<Operation, { op: 'claim' }>): Promise<void> {
    const queues = queue === null ? null : [this.#ground.queueName(queue)]
    await this.claimAs({ owner, limit, leaseMs, queues, ageingMs, jobs: this.#ground.limits.claimable(job) })
  }

  async claimAs(wanted: Omit<LeaseRequest, 'maxRescues' | 'queueLimits'>): Promise<number> {
    const now = this.#ground.clock.now()
    const limitedQueue = this.#ground.queueName('a')
    const { leases } = await this.#ground.backend.lease({
      ...wanted,
      maxRescues,
      queueLimits: this.#ground.limits.queueLimits(limitedQueue) ?? [],
    })
    this.#ground.model.catchUp(now, maxRescues)
    const names = new Set(wanted.jobs.map((each) => each.job))
    const mayStart = (each: ModelJob) =>
      each.state === 'ready' &&
      names.has(each.job) &&
      (wanted.queues === null || wanted.queues.includes(each.queue)) &&
      !this.#ground.model.paused.has(each.queue)
    for (const { envelope, token, attempt, expiresAt } of leases) {
      const job = this.#ground.model.get(envelope.id)
      assert.ok(mayStart(job), `${job.id} was claimed, which is ${job.state} in ${job.queue}`)
      assert.deepEqual(
        this.#betterThan(job, mayStart, wanted.ageingMs ?? 0),
        [],
        `jobs that should have been claimed before ${job.id}`,
      )
      this.#ground.model.start(job, token, expiresAt)
      this.#ground.limits.note(job, now, limitedQueue)
      this.#ground.tokens.push({ token, id: job.id, owner: wanted.owner })
      assert.equal(attempt, job.attempts, `attempt of ${job.id}`)
      assert.ok(attempt <= job.maxAttempts, `${job.id} was begun ${attempt} times, of at most ${job.maxAttempts}`)
      assert.equal(this.#ground.limits.broken(job, now, limitedQueue), undefined, `a limit was broken by ${job.id}`)
    }
    if (leases.length < wanted.limit) {
      const left = this.#ground.model
        .all()
        .filter((each) => mayStart(each) && this.#ground.limits.allows(each, now, limitedQueue))
      assert.deepEqual(
        left.map(({ id }) => id),
        [],
        'jobs that could have been claimed',
      )
    }
    return leases.length
  }

  /** Jobs that nothing tells apart from this one but their place in the line, and that stand before it. */
  #betterThan(job: ModelJob, mayStart: (each: ModelJob) => boolean, ageingMs: number): readonly string[] {
    // With ageing, what a group has in one priority may stand behind other groups, and what it has in another one not.
    const isComparable = (each: ModelJob) => ageingMs === 0 || job.group === null || each.priority === job.priority
    const isAlike = (each: ModelJob) =>
      each.job === job.job && each.queue === job.queue && each.group === job.group && isComparable(each)
    const rank = ({ runAt, priority }: ModelJob) => runAt - priority * ageingMs
    const isBefore = (each: ModelJob) =>
      ageingMs === 0 && each.priority !== job.priority
        ? each.priority > job.priority
        : rank(each) < rank(job) || (rank(each) === rank(job) && each.id < job.id)
    return this.#ground.model
      .all()
      .filter((each) => each !== job && mayStart(each) && isAlike(each) && isBefore(each))
      .map(({ id }) => id)
  }
}
