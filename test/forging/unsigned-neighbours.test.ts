import { describe, expect, test } from 'vitest'
import { drain } from '../../src/testing/drain.ts'
import { type AttackedQueue, attackedQueue, engines, signingKey } from './attacked-queue.ts'

/** While signing is being introduced, somebody who has not got the key writes beside jobs that are signed. */
describe.each(engines)('a signed job on %s, while others are accepted without a signature', (engine) => {
  test('does not vouch for a result that it took over from an idempotency key', async () => {
    const queue = await attackedQueue(engine, { unsigned: 'accept' })
    const pay = (on: AttackedQueue['jobs']) => on.define('pay', async (paid: number) => ({ paid })).idempotencyKey('order-1')
    await pay(queue.jobs).dispatch(1)
    await queue.jobs.run()
    await queue.attacker.forgeOnce({ result: '{"paid":1000}', seal: null })
    const second = await queue.jobs.dispatch('pay', 2)
    await queue.jobs.run()
    expect(await queue.record(second)).toMatchObject({ state: 'skipped', result: '{"paid":1000}' })
    const strict = queue.other({ signingKey })
    const taken: unknown[] = []
    strict.jobs.define('report', async (_: unknown, ctx) => void taken.push((await ctx.dependencies())[0]?.result))
    await expect(strict.jobs.handle(second.id).result()).rejects.toMatchObject({ code: 'RESULT_FORGED' })
    const after = await strict.jobs.dispatch('report', {}, { dependsOn: second.id })
    await strict.jobs.run()
    expect(taken).toEqual([])
    expect(await queue.record(after)).toMatchObject({ state: 'dead', reason: 'rejected' })
  })

  test('that is encrypted is never accepted without its signature, and nothing of it is stored in the clear', async () => {
    const queue = await attackedQueue(engine, { unsigned: 'accept' })
    queue.jobs.define('keep', async (payload: unknown) => payload).encrypt()
    const { id } = await queue.jobs.dispatch('keep', { card: '4111 1111' })
    await queue.attacker.forge(id, { signature: null })
    await queue.jobs.run()
    await queue.expectRejected(id)
    expect(JSON.stringify(await queue.record({ id }))).not.toContain('4111')
  })

  test('is run as a stored schedule only with its signature, if that is encrypted', async () => {
    const queue = await attackedQueue(engine, { unsigned: 'accept' })
    const ran: unknown[] = []
    queue.jobs.define('keep', (payload: unknown) => void ran.push(payload)).encrypt()
    await queue.jobs.schedules.upsert('acme', { job: 'keep', payload: { card: '4111 1111' }, cron: '0 * * * *' })
    await queue.attacker.forgeSchedules({ signature: null })
    await drain(queue.jobs, { clock: queue.clock, for: '2h' })
    expect(ran).toEqual([])
    expect(JSON.stringify(await queue.backend.store.list({ limit: 100 }))).not.toContain('4111')
  })
})
