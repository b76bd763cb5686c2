import { describe, expect, test } from 'vitest'
import { type AttackedQueue, attackedQueue, engines } from './attacked-queue.ts'

const forgedResult = '{"paid":1000}'

describe.each(engines)('ends that were forged on %s', (engine) => {
  const target = engine === 'sqlite' ? 'target_id' : 'target'

  /** Both where the job itself has it, and where the one that waits remembers it. */
  async function forgeEnd(queue: AttackedQueue, id: string, changes: string) {
    await queue.sql(`UPDATE {jobs} SET ${changes} WHERE id = '${id}'`)
    await queue.sql(`UPDATE {edges} SET ${changes} WHERE ${target} = '${id}'`)
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
    await forgeEnd(queue, await queue.idOf(2), how === 'changed' ? `result = '${forgedResult}'` : 'seal = NULL')
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
    await forgeEnd(queue, two.id, `result = '${forgedResult}'`)
    const taken = await client.leases.take({ jobs: ['take'], limit: 2 })
    expect(taken).toMatchObject([{ id: genuine.id }])
    await expectRefused(queue, after.id)
    expect(await client.leases.settle(genuine.id, { token: taken[0]?.token ?? '', outcome: 'done' })).toBe('done')
  })

  test('nor where its row says that it is linked to nothing', async () => {
    const queue = await attackedQueue(engine)
    const { client } = await queue.http()
    const one = await queue.jobs.declare('give').dispatch(1)
    const after = await queue.jobs.declare('take').dispatch(2, { dependsOn: one })
    const [lease] = await client.leases.take({ jobs: ['give'] })
    await client.leases.settle(one.id, { token: lease?.token ?? '', outcome: 'done', result: { paid: 1 } })
    await forgeEnd(queue, one.id, `result = '${forgedResult}'`)
    await queue.forge(after.id, { linked: 0 })
    expect(await client.leases.take({ jobs: ['take'] })).toEqual([])
    await expectRefused(queue, after.id)
  })
})
