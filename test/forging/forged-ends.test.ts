import { describe, expect, test } from 'vitest'
import { type AttackedQueue, attackedQueue, engines } from './attacked-queue.ts'
import type { Columns } from './attacker.ts'

const forgedResult = '{"paid":1000}'
const succeeded = 4

describe.each(engines)('ends that were forged on %s', (engine) => {
  /** Both where the job itself has it, and where the one that waits remembers it. */
  async function forgeEnd(queue: AttackedQueue, id: string, columns: Columns) {
    await queue.forge(id, columns)
    await queue.attacker.forgeEdges({ target: id }, columns)
  }

  async function expectRefused(queue: AttackedQueue, id: string) {
    const { state, reason, errors } = await queue.record({ id })
    expect({ state, reason, code: errors.at(-1)?.code }).toEqual({ state: 'dead', reason: 'rejected', code: 'RESULT_FORGED' })
  }

  test.each(['changed', 'not signed'])('a parent is not handed out with a finished child whose result is %s', async (how) => {
    const queue = await attackedQueue(engine)
    const { ask } = await queue.bedrock()
    await ask('CreateJob', { name: 'parent' })
    await ask('GetJob', { name: 'parent' })
    await ask('CreateJob', { name: 'child', parentJobID: 1 })
    await ask('FinishJob', { jobID: 1 })
    await ask('GetJob', { name: 'child' })
    await ask('FinishJob', { jobID: 2, data: { paid: 1 } })
    await forgeEnd(queue, await queue.idOf(2), how === 'changed' ? { result: forgedResult } : { seal: null })
    expect((await ask('GetJob', { name: 'parent' })).status).toBe('404 No job found')
    await expectRefused(queue, await queue.idOf(1))
  })

  test('a dependent is not leased over HTTP with a forged dependency, and a genuine one is', async () => {
    const queue = await attackedQueue(engine)
    const { client } = await queue.http()
    const give = queue.jobs.declare('give')
    const [one, two] = [await give.dispatch(1), await give.dispatch(2)]
    const take = queue.jobs.declare('take')
    const [genuine, after] = [await take.dispatch(1, { dependsOn: one }), await take.dispatch(2, { dependsOn: two })]
    for (const { id, token } of await client.leases.take({ jobs: ['give'], limit: 2 }))
      expect(await client.leases.settle(id, { token, outcome: 'done', result: { paid: 1 } })).toBe('done')
    await forgeEnd(queue, two.id, { result: forgedResult })
    const taken = await client.leases.take({ jobs: ['take'], limit: 2 })
    expect(taken).toMatchObject([{ id: genuine.id }])
    await expectRefused(queue, after.id)
    expect(await client.leases.settle(genuine.id, { token: taken[0]?.token ?? '', outcome: 'done' })).toBe('done')
  })

  test('a job that was set to succeeded before any worker had it has no result, and one that ran has', async () => {
    const queue = await attackedQueue(engine)
    const plain = queue.jobs.define('plain', async (_: string) => {})
    const forged = await plain.dispatch('forged', { delay: '1h' })
    const genuine = await plain.dispatch('genuine')
    await queue.jobs.run()
    await queue.forge(forged.id, { state: succeeded, finished_at: 1 })
    expect(await genuine.result()).toBeUndefined()
    await expect(forged.result()).rejects.toMatchObject({ code: 'RESULT_FORGED' })
  })

  test('where every end is signed, no success counts that nobody has signed, and no result can be taken away', async () => {
    const queue = await attackedQueue(engine, { signEveryEnd: true })
    const plain = queue.jobs.define('plain', async (give: boolean) => (give ? { paid: 1 } : undefined))
    const after = queue.jobs.define('after', async (_: null) => {})
    const [genuine, kept, taken] = [await plain.dispatch(false), await plain.dispatch(true), await plain.dispatch(true)]
    const [forged, other] = [await plain.dispatch(false, { delay: '1h' }), await plain.dispatch(false, { delay: '1h' })]
    await queue.jobs.run()
    await queue.forge(taken.id, { result: null, seal: null })
    const { seal } = await queue.record(genuine)
    await queue.forge(forged.id, { state: succeeded, attempts: 1, started_at: 1, finished_at: 1 })
    await queue.forge(other.id, { state: succeeded, attempts: 1, started_at: 1, finished_at: 1, seal })
    expect(await genuine.result()).toBeUndefined()
    expect(await kept.result()).toEqual({ paid: 1 })
    for (const run of [taken, forged, other]) await expect(run.result()).rejects.toMatchObject({ code: 'RESULT_FORGED' })
    const [late, genuinelyLate] = [
      await after.dispatch(null, { dependsOn: forged }),
      await after.dispatch(null, { dependsOn: genuine }),
    ]
    await queue.jobs.run()
    await expectRefused(queue, late.id)
    expect(await queue.record(genuinelyLate)).toMatchObject({ state: 'succeeded' })
  })

  test('nor where its row says that it is linked to nothing', async () => {
    const queue = await attackedQueue(engine)
    const { client } = await queue.http()
    const one = await queue.jobs.declare('give').dispatch(1)
    const after = await queue.jobs.declare('take').dispatch(2, { dependsOn: one })
    const [lease] = await client.leases.take({ jobs: ['give'] })
    await client.leases.settle(one.id, { token: lease?.token ?? '', outcome: 'done', result: { paid: 1 } })
    await forgeEnd(queue, one.id, { result: forgedResult })
    await queue.forge(after.id, { linked: 0 })
    expect(await client.leases.take({ jobs: ['take'] })).toEqual([])
    await expectRefused(queue, after.id)
  })
})
