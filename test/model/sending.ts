import assert from 'node:assert/strict'
import { type Ground, longestWaitMs, pickOf } from './ground.ts'
import type { ModelJob } from './model-queue.ts'
import type { JobSpec, Operation } from './operations.ts'

/** Jobs that come from outside, and children that running jobs make. */
export class Sending {
  readonly #ground: Ground

  constructor(ground: Ground) {
    this.#ground = ground
  }

  async send(specs: readonly JobSpec[]): Promise<void> {
    const now = this.#ground.clock.now()
    const known = this.#ground.model.all()
    const jobs = specs.map((spec) => this.#ground.newJob(spec, known))
    const receipts = await this.#ground.backend.send(jobs.map((job) => this.#ground.envelope(job, null)))
    const stored: ModelJob[] = []
    jobs.forEach((job, index) => {
      const holder = this.#ground.model.holderOf(job, now)
      assert.deepEqual(receipts[index], { id: holder ?? job.id, stored: holder === undefined }, `receipt of ${job.id}`)
      if (holder !== undefined) return
      this.#ground.model.insert(job, now)
      stored.push(job)
    })
    for (const job of stored) this.#ground.model.settleInserted(job, now)
  }

  /** Only who holds a job can give it children, and a child that is there already is found again. */
  async child({ pick, key, spec, policy }: Extract<Operation, { op: 'child' }>): Promise<void> {
    const chosen = pickOf(this.#ground.tokens, pick)
    if (chosen === undefined) return
    const parent = this.#ground.held(chosen)
    const child = this.#ground.newJob({ ...spec, waitsFor: [], uniqueKey: null }, [])
    const link = { id: chosen.id, token: chosen.token, key: String(key), onFailure: policy, longestWaitMs }
    const [receipt] = await this.#ground.backend.send([this.#ground.envelope(child, link)])
    if (parent === undefined) {
      assert.deepEqual([receipt?.stored, receipt?.refused], [false, 'lost'], `a child of ${chosen.id}, which is not held`)
      return
    }
    if (parent.cancelRequested) {
      assert.deepEqual([receipt?.stored, receipt?.refused], [false, 'cancelled'], `a child of ${chosen.id}, which is to stop`)
      return
    }
    const known = this.#ground.children.get(`${parent.id} ${key}`)
    assert.deepEqual([receipt?.id, receipt?.stored], [known ?? child.id, known === undefined], `a child of ${parent.id}`)
    if (known !== undefined) return
    this.#ground.children.set(`${parent.id} ${key}`, child.id)
    parent.edges.push({ on: child.id, policy, isChild: true, outcome: null })
    this.#ground.model.insert(child, this.#ground.clock.now())
  }
}
