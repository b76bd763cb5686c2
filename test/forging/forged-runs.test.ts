import { describe, expect, test } from 'vitest'
import { attackedQueue, engines, field } from './attacked-queue.ts'

describe.each(engines)('a running job that was forged on %s', (engine) => {
  test.each(['identity', 'payload', 'signature'])('gets no signed result over HTTP where its %s was changed', async (what) => {
    const queue = await attackedQueue(engine)
    const { client } = await queue.http()
    const { id } = await client.jobs.create({ job: 'harmless', payload: { a: 1 } })
    const [lease] = await client.leases.take({ jobs: ['harmless'] })
    if (what === 'identity') await queue.forgeIdentity(id, { [field.maxRetries]: 99 })
    else await queue.forge(id, what === 'payload' ? { payload: '{"evil":1}' } : { signature: null })
    await client.leases.settle(id, { token: lease?.token ?? '', outcome: 'done', result: { paid: 1 } })
    await queue.expectRejected(id)
    expect(await queue.record({ id })).toMatchObject({ result: null, seal: null })
  })

  test.each(['done', 'dead', 'cancelled'] as const)('ends as rejected over HTTP, not as %s without a result', async (outcome) => {
    const queue = await attackedQueue(engine)
    const { client } = await queue.http()
    const { id } = await client.jobs.create({ job: 'harmless', payload: { a: 1 } })
    const [lease] = await client.leases.take({ jobs: ['harmless'] })
    await queue.forge(id, { payload: '{"evil":1}' })
    const error = outcome === 'dead' ? { error: { message: 'no' } } : {}
    await client.leases.settle(id, { token: lease?.token ?? '', outcome, ...error } as never)
    await queue.expectRejected(id)
  })
})
