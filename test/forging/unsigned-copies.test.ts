import { describe, expect, test } from 'vitest'
import { drain } from '../../src/testing/drain.ts'
import { attackedQueue, engines } from './attacked-queue.ts'

/** What somebody writes who can write to the database, while signing is being introduced. */
describe.each(engines)('what was accepted without a signature on %s', (engine) => {
  async function accepting() {
    const queue = await attackedQueue(engine, { unsigned: 'accept' })
    const ran: unknown[] = []
    queue.jobs.define('report', (payload) => void ran.push(payload))
    const strict = queue.other({ signingKey: { id: 'k1', secret: 'a secret of 16 bytes or more' } })
    strict.jobs.define('report', (payload) => void ran.push(payload))
    return { ...queue, ran, strict }
  }

  test('has a copy that is not signed either, and is refused when signatures are needed', async () => {
    const queue = await accepting()
    const { id } = await queue.jobs.dispatch('report', { to: 'evil' })
    await queue.attacker.forge(id, { signature: null, payload: '{"to":"evil"}' })
    const { ask } = await queue.http()
    const copied = await ask('POST', `/jobs/${id}/copy`, { json: { payload: { to: 'acme' } } })
    expect(copied).toMatchObject({ status: 201 })
    await queue.strict.jobs.run()
    await queue.expectRejected((copied.body as { id: string }).id)
    expect(queue.ran).toEqual([])
  })

  test('signs no run of a schedule, neither at its time nor at once', async () => {
    const queue = await accepting()
    await queue.jobs.schedules.upsert('acme', { job: 'report', payload: { to: 'evil' }, cron: '0 * * * *' })
    await queue.attacker.forgeSchedules({ signature: null })
    await expect(queue.jobs.schedules.runNow('acme')).rejects.toMatchObject({ code: 'SCHEDULE_INVALID' })
    await drain(queue.jobs, { clock: queue.clock, for: '2h' })
    const { length } = queue.ran
    expect(length).toBeGreaterThan(0)
    const runs = await queue.backend.store.list({ limit: 100 })
    expect(runs.map(({ signature }) => signature)).toEqual(runs.map(() => null))
    await queue.strict.jobs.run()
    await queue.clock.advance(3_600_000)
    await queue.strict.jobs.run()
    expect(queue.ran).toHaveLength(length)
  })

  test('is followed and run at once when it was signed', async () => {
    const queue = await accepting()
    await queue.jobs.schedules.upsert('acme', { job: 'report', payload: 1, cron: '0 * * * *' })
    await queue.jobs.schedules.runNow('acme')
    await drain(queue.jobs, { clock: queue.clock, for: '1h' })
    const runs = await queue.backend.store.list({ limit: 100 })
    for (const { id } of runs) expect(await queue.isSigned(id)).toBe(true)
    expect(queue.ran.length).toBeGreaterThan(1)
  })
})
