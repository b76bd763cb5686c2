import assert from 'node:assert/strict'
import { finalStates } from '../../src/queue/contract/job-state.ts'
import { cancelOutcome } from '../../src/queue/contract/queue-counts.ts'
import { type Ground, pickOf } from './ground.ts'
import { isEnded, type ModelEdge, type ModelJob } from './model-queue.ts'
import type { JobSpec } from './operations.ts'

/** What people do to jobs. */
export class Changing {
  readonly #ground: Ground

  constructor(ground: Ground) {
    this.#ground = ground
  }

  async cancel(pick: number): Promise<void> {
    const job = pickOf(this.#ground.model.all(), pick)
    if (job === undefined) return
    const expected = isEnded(job) ? 'ended' : job.state === 'running' ? 'requested' : 'cancelled'
    assert.equal(cancelOutcome(await this.#ground.store.cancel(job.id)), expected, `cancel of ${job.id}`)
    this.#noteCancel(job)
  }

  async cancelTree(pick: number): Promise<void> {
    const job = pickOf(this.#ground.model.all(), pick)
    if (job === undefined) return
    await this.#ground.store.cancel(job.id, { tree: true })
    const tree = this.#treeOf(job)
    // All of them are meant: none is to end as failed because another one was cancelled first.
    for (const each of tree) if (!isEnded(each) && each.state !== 'running') each.state = 'cancelled'
    for (const each of tree) {
      if (each.state === 'running') each.cancelRequested = true
      else if (each.state === 'cancelled') this.#ground.model.end(each, 'cancelled', this.#ground.clock.now())
    }
  }

  async replay(pick: number): Promise<void> {
    const job = pickOf(
      this.#ground.model.all().filter(({ edges, uniqueKey }) => edges.length === 0 && uniqueKey === null),
      pick,
    )
    if (job === undefined) return
    const ended = isEnded(job)
    assert.deepEqual(await this.#ground.store.retry([job.id]), [ended ? 'requeued' : 'active'], `replay of ${job.id}`)
    if (!ended) return
    Object.assign(job, {
      state: 'ready',
      runAt: this.#ground.clock.now(),
      attempts: 0,
      rescues: 0,
      cancelRequested: false,
      isBegun: false,
      isDone: false,
      wasStarted: false,
    })
    for (const each of this.#ground.model.occurrences) if (each.jobId === job.id) each.outcome = null
  }

  async remove(pick: number): Promise<void> {
    const job = pickOf(this.#ground.model.all(), pick)
    if (job === undefined) return
    const state = finalStates.find((each) => each === job.state) ?? 'dead'
    const removed = await this.#ground.store.remove({ state, ids: [job.id], limit: 1 })
    assert.equal(removed, isEnded(job) ? 1 : 0, `removal of ${job.id}`)
    if (isEnded(job)) this.#ground.model.jobs.delete(job.id)
  }

  /** Another place, time and group for a job that waits, or for any. */
  async amend(pick: number, spec: JobSpec, inAnyState: boolean): Promise<void> {
    const job = pickOf(this.#ground.model.all(), pick)
    if (job === undefined) return
    const { queue, priority, group, runAt } = this.#ground.newJob({ ...spec, waitsFor: [] }, [])
    const envelope = this.#ground.envelope({ ...job, edges: [], queue, priority, group, runAt }, null)
    const expected = inAnyState ? 'amended' : isEnded(job) ? 'ended' : job.state === 'running' ? 'claimed' : 'amended'
    assert.deepEqual(
      await this.#ground.store.amend([{ id: job.id, expected: null, envelope, ...(inAnyState && { inAnyState }) }]),
      [expected],
      `amending of ${job.id}`,
    )
    if (expected !== 'amended') return
    Object.assign(job, { queue, priority, group, runAt })
    if (job.state === 'ready' || job.state === 'scheduled') job.state = runAt > this.#ground.clock.now() ? 'scheduled' : 'ready'
  }

  async reschedule(pick: number, delayMs: number): Promise<void> {
    const job = pickOf(this.#ground.model.all(), pick)
    if (job === undefined) return
    const runAt = this.#ground.clock.now() + delayMs
    const expected = isEnded(job) ? 'ended' : job.state === 'running' ? 'claimed' : 'moved'
    assert.equal((await this.#ground.store.amend([{ id: job.id, runAt }]))[0], expected, `reschedule of ${job.id}`)
    if (expected !== 'moved') return
    job.runAt = runAt
    if (job.state !== 'blocked') job.state = delayMs > 0 ? 'scheduled' : 'ready'
  }

  #noteCancel(job: ModelJob): void {
    if (isEnded(job)) return
    if (job.state === 'running') job.cancelRequested = true
    else this.#ground.model.end(job, 'cancelled', this.#ground.clock.now())
  }

  /** The job, what it made and what waits for it, all the way down. */
  #treeOf(first: ModelJob): readonly ModelJob[] {
    const tree = new Set([first])
    for (const each of tree) {
      for (const { on, isChild } of each.edges)
        if (isChild && this.#ground.model.jobs.has(on)) tree.add(this.#ground.model.get(on))
      for (const waiter of this.#ground.model.all()) {
        if (waiter.edges.some((edge) => edge.on === each.id && !edge.isChild && isStillOpen(edge, each))) tree.add(waiter)
      }
    }
    return [...tree]
  }

  pause(queue: string): Promise<void> {
    const name = this.#ground.queueName(queue)
    this.#ground.model.paused.add(name)
    return this.#ground.store.setPaused({ queue: name }, true)
  }

  resume(queue: string): Promise<void> {
    const name = this.#ground.queueName(queue)
    this.#ground.model.paused.delete(name)
    return this.#ground.store.setPaused({ queue: name }, false)
  }
}

function isStillOpen({ outcome }: ModelEdge, on: ModelJob): boolean {
  return outcome === null || (outcome === 'overtaken' && !isEnded(on))
}
