import { describe, expect, it } from 'vitest'
import { keyUsage, noNeeds } from '../../src/cli/jobs/key-usage.ts'
import { attackedQueue, engines, signingKey } from '../forging/attacked-queue.ts'
import { serving } from '../server/http/serving.ts'

const fresh = { id: 'k2', secret: 'another secret of 16 bytes or more' }

/** A key that is to be retired is needed by more than the jobs that it signed. */
describe.each(engines)('the old key of a queue on %s', (engine) => {
  async function rotated() {
    const queue = await attackedQueue(engine)
    const after = queue.other({ signingKey: [fresh, signingKey] })
    const needs = async () => (await keyUsage(queue.backend)).needs.get(signingKey.id) ?? noNeeds
    return { ...queue, after, needs }
  }

  it('is needed by the unfinished jobs that it signed, and no longer when they have ended', async () => {
    const { jobs, after, needs } = await rotated()
    await jobs.define('give', async () => {}).dispatch()
    expect(await needs()).toEqual({ ...noNeeds, jobs: 1 })
    after.jobs.define('give', async () => {})
    await after.jobs.run()
    expect(await needs()).toEqual(noNeeds)
  })

  it('is needed by a payload that it encrypted, also where the job was signed with another one since', async () => {
    const { jobs, after, record, needs } = await rotated()
    const { id } = await jobs.define('keep', async () => {}).dispatch({ card: 1 }, { encrypt: true })
    const { ask } = await serving({
      on: { backend: after.backend, clock: after.clock },
      jobs: { signingKey: [fresh, signingKey] },
    })
    expect(await ask('PATCH', `/jobs/${id}`, { json: { priority: 5 } })).toMatchObject({ status: 200 })
    expect((await record({ id })).signature).toMatch(/^k2\./)
    expect(await needs()).toEqual({ ...noNeeds, jobs: 1 })
  })

  it('is needed by stored schedules', async () => {
    const { jobs, needs } = await rotated()
    jobs.define('give', async () => {})
    await jobs.schedules.upsert('daily', { job: 'give', payload: 1, cron: '0 0 * * *' })
    expect(await needs()).toEqual({ ...noNeeds, schedules: 1 })
  })

  it('is needed by results that unfinished jobs have waited for', async () => {
    const { jobs, after, needs } = await rotated()
    const give = await jobs.define('give', async () => 1).dispatch()
    await jobs.run()
    expect(await needs()).toEqual(noNeeds)
    after.jobs.define('take', async () => {})
    await after.jobs.dispatch('take', null, { dependsOn: give.id })
    expect(await needs()).toEqual({ ...noNeeds, results: 1 })
    await after.jobs.run()
    expect(await needs()).toEqual(noNeeds)
  })

  it('leaves uncounted what has no signature, which is counted apart', async () => {
    const queue = await attackedQueue(engine)
    const { jobs } = queue.other({ unsigned: true })
    const give = await jobs
      .define('give', async () => 1)
      .queue('first')
      .dispatch()
    await jobs
      .define('pay', async () => 1)
      .queue('first')
      .idempotencyKey('order-1')
      .dispatch()
    await jobs.define('take', async () => {}).dispatch(undefined, { dependsOn: give })
    await jobs.run({ queues: ['first'] })
    await jobs.schedules.upsert('daily', { job: 'take', payload: 1, cron: '0 0 * * *' })
    const { needs, unsigned } = await keyUsage(queue.backend)
    expect({ needs: [...needs], unsigned }).toEqual({ needs: [], unsigned: { jobs: 1, schedules: 1, results: 2 } })
  })

  it('is needed by what idempotency keys keep', async () => {
    const { jobs, needs } = await rotated()
    await jobs
      .define('pay', async () => 1)
      .idempotencyKey('order-1')
      .dispatch()
    await jobs.run()
    expect(await needs()).toEqual({ ...noNeeds, results: 1 })
  })
})
