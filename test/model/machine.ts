import assert from 'node:assert/strict'
import type { ManualClock } from '../../src/testing/manual-clock.ts'
import { Changing } from './changing.ts'
import { Claiming } from './claiming.ts'
import { Ground, type StoredBackend } from './ground.ts'
import { isEnded } from './model-queue.ts'
import type { Operation, ProgramSpec } from './operations.ts'
import { Scheduling } from './scheduling.ts'
import { Sending } from './sending.ts'
import { Settling } from './settling.ts'
import { Sharing } from './sharing.ts'

const checkEvery = 8
const mostDrainRounds = 1_000

/** Runs a program on a backend and on the model, and compares what they say. */
export class Machine {
  readonly #operations: readonly Operation[]
  readonly #ground: Ground
  readonly #sending: Sending
  readonly #claiming: Claiming
  readonly #settling: Settling
  readonly #changing: Changing
  readonly #scheduling: Scheduling
  readonly #sharing: Sharing

  constructor(backend: StoredBackend, clock: ManualClock, name: string, spec: ProgramSpec) {
    this.#operations = spec.operations
    this.#ground = new Ground(backend, clock, name, spec)
    this.#sending = new Sending(this.#ground)
    this.#claiming = new Claiming(this.#ground)
    this.#settling = new Settling(this.#ground)
    this.#changing = new Changing(this.#ground)
    this.#scheduling = new Scheduling(this.#ground)
    this.#sharing = new Sharing(this.#ground)
  }

  async run(): Promise<void> {
    for (const [step, operation] of this.#operations.entries()) {
      await this.#perform(operation)
      if (step % checkEvery === 0) await this.#compare()
    }
    await this.#compare()
    await this.#drain()
    await this.#compare()
    await this.#cleanUp()
  }

  #perform(operation: Operation): Promise<void> {
    switch (operation.op) {
      case 'send':
        return this.#sending.send(operation.jobs)
      case 'child':
        return this.#sending.child(operation)
      case 'claim':
        return this.#claiming.claim(operation)
      case 'settle':
        return this.#settling.settle(operation)
      case 'late':
        return this.#settling.settleLate(operation.pick)
      case 'begin':
        return this.#settling.begin(operation.pick)
      case 'extend':
        return this.#settling.extend(operation.pick)
      case 'crash':
        return this.#crash(operation.owner)
      case 'advance':
        return this.#ground.clock.advance(operation.ms)
      case 'cancel':
        return this.#changing.cancel(operation.pick)
      case 'cancelTree':
        return this.#changing.cancelTree(operation.pick)
      case 'replay':
        return this.#changing.replay(operation.pick)
      case 'remove':
        return this.#changing.remove(operation.pick)
      case 'amend':
        return this.#changing.amend(operation.pick, operation.spec, operation.inAnyState)
      case 'reschedule':
        return this.#changing.reschedule(operation.pick, operation.delayMs)
      case 'pause':
        return this.#changing.pause(operation.queue)
      case 'resume':
        return this.#changing.resume(operation.queue)
      case 'register':
        return this.#scheduling.register(operation)
      case 'enqueue':
        return this.#scheduling.enqueue(operation)
      case 'pauseSchedule':
        return this.#scheduling.pause(operation.schedule)
      case 'resumeSchedule':
        return this.#scheduling.resume(operation.schedule)
      case 'removeSchedule':
        return this.#scheduling.remove(operation.schedule)
      case 'skipWaiting':
        return this.#scheduling.skipWaiting(operation)
      case 'markSeen':
        return this.#scheduling.markSeen(operation)
      case 'claimOnce':
        return this.#sharing.claimOnce(operation)
      case 'lock':
        return this.#sharing.lock(operation)
      case 'unlock':
        return this.#sharing.unlock(operation)
      case 'number':
        return this.#sharing.number(operation.pick)
    }
  }

  async #crash(owner: string): Promise<void> {
    for (const given of this.#ground.tokens) if (given.owner === owner) this.#ground.crashed.add(given.token)
  }

  /** With nothing in its way every job ends, parents included, however the program left it. */
  async #drain(): Promise<void> {
    const { model, clock, limits } = this.#ground
    for (const queue of ['a', 'b']) await this.#changing.resume(queue)
    for (let round = 0; model.all().some((job) => !isEnded(job)); round++) {
      assert.ok(round < mostDrainRounds, `jobs are left: ${JSON.stringify(model.all().filter((job) => !isEnded(job)))}`)
      await clock.advance(1_000)
      await this.#claiming.claimAs({ owner: 'drain', limit: 100, leaseMs: 60_000, jobs: limits.claimable(null), queues: null })
      for (const { token, id, state, leaseUntil } of model.all()) {
        if (state !== 'running' || leaseUntil <= clock.now()) continue
        await this.#settling.settleToken(token as string, id, { how: 'done', delayMs: 0, keep: true })
      }
    }
  }

  async #compare(): Promise<void> {
    const { model, store } = this.#ground
    for (const job of model.all()) {
      const record = await store.get(job.id)
      assert.ok(record, `${job.id} is lost: it should be ${job.state}`)
      const { state, attempts, rescues, cancelRequested } = record
      const expected = {
        state: job.state,
        attempts: job.attempts,
        rescues: job.rescues,
        cancelRequested: job.state === 'running' && job.cancelRequested,
      }
      assert.deepEqual({ state, attempts, rescues, cancelRequested }, expected, `job ${job.id}`)
    }
    await this.#scheduling.compare()
  }

  async #cleanUp(): Promise<void> {
    const { model, store } = this.#ground
    for (const state of ['succeeded', 'dead', 'cancelled', 'skipped'] as const)
      await store.remove({ state, ids: [...model.jobs.keys()], limit: 1_000 })
    await this.#scheduling.cleanUp()
  }
}
