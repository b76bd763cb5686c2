import { describe, expect, test } from 'vitest'
import { drain } from '../../src/testing/drain.ts'
import { attackedQueue, engines } from './attacked-queue.ts'

describe.each(engines)('a stored schedule that was forged on %s', (engine) => {
  async function attacked() {
    const queue = await attackedQueue(engine)
    const runs: unknown[] = []
    queue.jobs.define('report', (payload) => void runs.push(payload))
    queue.jobs.define('refund', (payload) => void runs.push(['refund', payload]))
    const { definition } = await made(queue)
    return { ...queue, runs, definition }
  }

  async function made(queue: Awaited<ReturnType<typeof attackedQueue>>) {
    await queue.jobs.schedules.upsert('acme', { job: 'report', payload: { to: 'acme' }, cron: '0 * * * *' })
    const [record] = await queue.backend.store.schedules.list()
    return { definition: record?.definition?.text ?? '' }
  }

  const changes: Readonly<Record<string, (text: string) => string>> = {
    job: (text) => text.replace('"report"', '"refund"'),
    payload: (text) => text.replace('acme"}', 'evil"}'),
    times: (text) => text.replace('0 * * * *', '* * * * *'),
    key: (text) => text.replace('"acme"', '"evil"'),
    form: () => 'no schedule at all',
  }

  test.each(Object.keys(changes))('is not followed, and is told, where its %s was changed', async (what) => {
    const { jobs, clock, attacker, runs, definition, log } = await attacked()
    const forged = changes[what]?.(definition) ?? ''
    expect(forged).not.toBe(definition)
    await attacker.forgeSchedules({ definition: forged })
    await drain(jobs, { clock, for: '3h' })
    expect(runs).toEqual([])
    expect(log).toContainEqual(expect.stringMatching(/^error The stored schedule "acme" is not followed/))
    expect(await jobs.schedules.get('acme')).toMatchObject({ state: 'rejected', problem: expect.any(String) })
    await expect(jobs.schedules.runNow('acme')).rejects.toMatchObject({ code: 'SCHEDULE_INVALID' })
  })

  test('is not followed without a signature, nor under the key of another one', async () => {
    const { jobs, clock, attacker, runs, log } = await attacked()
    await attacker.copySchedules('stored:evil')
    await attacker.forgeSchedules({ signature: null })
    await drain(jobs, { clock, for: '3h' })
    expect(runs).toEqual([])
    expect(log).toContainEqual(expect.stringMatching(/^error The stored schedule "acme" is not followed: it is not signed/))
    expect(log).toContainEqual(expect.stringMatching(/^error The stored schedule "evil" is not followed/))
  })

  test('is followed again when it is made anew', async () => {
    const { jobs, clock, attacker, runs } = await attacked()
    await attacker.forgeSchedules({ definition: 'spoilt' })
    await drain(jobs, { clock, for: '1h' })
    await jobs.schedules.upsert('acme', { job: 'report', payload: { to: 'acme' }, cron: '0 * * * *' })
    await drain(jobs, { clock, for: '2h' })
    expect(runs.length).toBeGreaterThanOrEqual(2)
    expect(runs.every((payload) => JSON.stringify(payload) === '{"to":"acme"}')).toBe(true)
  })

  test('has a payload that can be read with the key alone, where payloads are encrypted', async () => {
    const queue = await attackedQueue(engine, { encrypt: true })
    const runs: unknown[] = []
    queue.jobs.define('report', (payload) => void runs.push(payload))
    const { definition } = await made(queue)
    expect(definition).not.toMatch(/"to\\?"/)
    expect(await queue.jobs.schedules.get('acme')).toMatchObject({ payload: { to: 'acme' } })
    await drain(queue.jobs, { clock: queue.clock, for: '1h' })
    expect(runs).not.toEqual([])
    expect(runs[0]).toEqual({ to: 'acme' })
  })
})
