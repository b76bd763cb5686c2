import { describe, expect, test } from 'vitest'
import { type AttackedQueue, attackedQueue, engines } from './attacked-queue.ts'
import type { Columns } from './attacker.ts'

const ended = { succeeded: 4, dead: 5, cancelled: 6, skipped: 7, missing: 8 } as const

describe.each(engines)('waits that were forged on %s', (engine) => {
  async function makeReady({ attacker, record }: AttackedQueue, id: string) {
    await attacker.release(id)
    expect(await record({ id })).toMatchObject({ state: 'ready' })
  }

  async function expectRefused(queue: AttackedQueue, id: string, ran: readonly unknown[]) {
    const { state, reason, errors } = await queue.record({ id })
    expect({ state, reason, code: errors.at(-1)?.code, ran }).toEqual({
      state: 'dead',
      reason: 'rejected',
      code: 'RESULT_FORGED',
      ran: [],
    })
  }

  async function shop(policy?: 'fail' | 'ignore') {
    const queue = await attackedQueue(engine)
    const ran: string[] = []
    const charge = queue.jobs.define('charge', async (_: null) => {})
    const ship = queue.jobs.define('ship', async (_: null) => void ran.push('ship'))
    const charged = await charge.dispatch(null, { delay: '1h' })
    const shipped = await ship.dispatch(null, {
      dependsOn: charged,
      ...(policy !== undefined && { onDependencyFailure: policy }),
    })
    const say = (columns: Columns) => queue.attacker.forgeEdges({ target: charged.id }, columns)
    return { queue, ran, charged, shipped, say }
  }

  const failures = ['dead', 'cancelled', 'skipped', 'missing'] as const

  test.each(failures)('a job does not run where the one that it waits for is said to be %s', async (how) => {
    const { queue, ran, shipped, say } = await shop()
    await say({ outcome: ended[how] })
    await makeReady(queue, shipped.id)
    await queue.jobs.run()
    await expectRefused(queue, shipped.id, ran)
  })

  test('nor where that one was deleted', async () => {
    const { queue, ran, charged, shipped } = await shop()
    await queue.attacker.deleteJob(charged.id)
    await makeReady(queue, shipped.id)
    await queue.jobs.run()
    await expectRefused(queue, shipped.id, ran)
  })

  test.each(['ignore', 'continue', 'rescue', 'none'])('nor where its policy was changed to "%s"', async (policy) => {
    const { queue, ran, shipped, say } = await shop()
    await say({ policy, outcome: ended.cancelled })
    await makeReady(queue, shipped.id)
    await queue.jobs.run()
    await expectRefused(queue, shipped.id, ran)
  })

  test('it is handed out neither over HTTP nor over TCP', async () => {
    const { queue, shipped, say } = await shop()
    const { client } = await queue.http()
    await say({ outcome: ended.dead })
    await makeReady(queue, shipped.id)
    expect(await client.leases.take({ jobs: ['ship'] })).toEqual([])
    await expectRefused(queue, shipped.id, [])
    const again = await shop()
    const { ask } = await again.queue.bedrock()
    await again.say({ outcome: ended.dead })
    await makeReady(again.queue, again.shipped.id)
    expect((await ask('GetJob', { name: 'ship' })).status).toBe('404 No job found')
    await expectRefused(again.queue, again.shipped.id, [])
  })

  test('where a step may stand for another one, its policy is signed all the same', async () => {
    const queue = await attackedQueue(engine)
    const ran: string[] = []
    const charge = queue.jobs.define('charge', async (_: null) => {}).unique(() => 'one')
    const ship = queue.jobs.define('ship', async (_: null) => void ran.push('ship'))
    await charge.dispatch(null, { delay: '1h' })
    const { id } = (await queue.jobs.chain([charge.step(null), ship.step(null)])).runs.at(-1) as { id: string }
    await queue.attacker.forgeEdges({ waiter: id }, { policy: 'ignore', outcome: ended.dead })
    await makeReady(queue, id)
    await queue.jobs.run()
    await expectRefused(queue, id, ran)
  })

  test('one that stands in for others does not run where all of them have succeeded', async () => {
    const queue = await attackedQueue(engine)
    const ran: string[] = []
    const charge = queue.jobs.define('charge', async (_: null) => {})
    const refund = queue.jobs.define('refund', async (_: null) => void ran.push('refund'))
    const workflow = queue.jobs.workflow()
    workflow.add(refund.step(null), { after: workflow.add(charge.step(null)), onFailure: 'rescue' })
    const { id } = (await workflow.dispatch()).runs.at(-1) as { id: string }
    await queue.jobs.run()
    expect(await queue.record({ id })).toMatchObject({ state: 'skipped' })
    await queue.backend.store.retry([id])
    await queue.jobs.run()
    await expectRefused(queue, id, ran)
  })

  test('a genuine failure that is ignored lets it run', async () => {
    const { queue, ran, charged, shipped } = await shop('ignore')
    await charged.cancel()
    await queue.jobs.run()
    expect({ ran, state: (await queue.record(shipped)).state }).toEqual({ ran: ['ship'], state: 'succeeded' })
  })

  test('replayed alone it is refused, replayed with what it waits for it runs', async () => {
    const { queue, ran, charged, shipped } = await shop()
    const { store } = queue.backend
    await charged.cancel()
    expect(await queue.record(shipped)).toMatchObject({ state: 'dead', reason: 'dependency' })
    await store.retry([shipped.id])
    await queue.jobs.run()
    await expectRefused(queue, shipped.id, ran)
    await store.retry([charged.id, shipped.id])
    await queue.jobs.run()
    expect({ ran, state: (await queue.record(shipped)).state }).toEqual({ ran: ['ship'], state: 'succeeded' })
  })
})
