import assert from 'node:assert/strict'
import type { Coordination } from '../../src/queue/contract/contract.ts'
import { type Ground, pickOf } from './ground.ts'
import type { Operation } from './operations.ts'

interface ModelLock {
  readonly owner: string
  readonly until: number
}

/** What programs share beside their jobs: idempotency keys, locks and numbers. */
export class Sharing {
  readonly #ground: Ground
  readonly #coordination: Coordination
  readonly #locks = new Map<string, ModelLock>()
  readonly #numbers = new Map<number, string>()

  constructor(ground: Ground) {
    this.#ground = ground
    this.#coordination = ground.backend.coordination
  }

  async claimOnce({ pick, key }: Extract<Operation, { op: 'claimOnce' }>): Promise<void> {
    const chosen = pickOf(this.#ground.tokens, pick)
    if (chosen === undefined) return
    const name = this.#ground.named(`once-${key}`)
    const { kind } = await this.#coordination.claimOnce(name, chosen.id)
    assert.equal(kind, this.#ground.once.claim(name, chosen.id, this.#ground.clock.now()), `${name} for ${chosen.id}`)
  }

  async lock({ name, owner, ms }: Extract<Operation, { op: 'lock' }>): Promise<void> {
    const lock = this.#ground.named(`lock-${name}`)
    const now = this.#ground.clock.now()
    const known = this.#locks.get(lock)
    const isFree = known === undefined || known.until <= now || known.owner === owner
    const answer = await this.#coordination.lock(lock, { owner, host: 'host', pid: 1 }, ms)
    const expected = isFree ? { owner, until: now + ms } : known
    if (isFree) this.#locks.set(lock, expected)
    assert.equal(answer.held, isFree, `${lock} for ${owner}`)
    if (!answer.held) assert.deepEqual({ owner: answer.by.owner, until: answer.by.expiresAt }, expected, `the holder of ${lock}`)
  }

  async unlock({ name, owner }: Extract<Operation, { op: 'unlock' }>): Promise<void> {
    const lock = this.#ground.named(`lock-${name}`)
    const known = this.#locks.get(lock)
    const isOwn = known !== undefined && known.owner === owner && known.until > this.#ground.clock.now()
    assert.equal(await this.#coordination.unlock(lock, owner), isOwn, `${lock} freed by ${owner}`)
    if (isOwn) this.#locks.delete(lock)
  }

  /** A job keeps its number, and no other ever gets it. */
  async number(pick: number): Promise<void> {
    const job = pickOf(this.#ground.model.all(), pick)
    if (job === undefined) return
    const { numbers } = this.#ground.store
    assert.ok(numbers, 'the backend numbers jobs')
    const [number] = await numbers.assign([job.id])
    assert.ok(typeof number === 'number', `the number of ${job.id}`)
    const known = [...this.#numbers].find(([, id]) => id === job.id)?.[0]
    if (known === undefined) assert.ok(!this.#numbers.has(number), `${number} was another job's`)
    else assert.equal(number, known, `the number of ${job.id}`)
    this.#numbers.set(number, job.id)
    const asked = [...this.#numbers.keys()]
    const expected = asked
      .map((each) => this.#numbers.get(each) as string)
      .map((id) => (this.#ground.model.jobs.has(id) ? id : null))
    assert.deepEqual(await numbers.find(asked), expected, 'the jobs of numbers')
  }
}
