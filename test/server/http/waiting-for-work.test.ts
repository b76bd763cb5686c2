import { getEventListeners } from 'node:events'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { until } from '../../world.ts'
import { type Serving, serving } from './serving.ts'

function waiters({ api }: Serving, count = 1): Promise<void> {
  return until(() => api.waiting === count)
}

const wait = '20s'

function requestText(json: object): string {
  const body = JSON.stringify(json)
  return `POST /api/v1/leases HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

describe('a request that waits for work', () => {
  test('is answered as soon as there is some', async () => {
    const world = await serving()
    const taking = world.client.leases.take({ jobs: ['a'], wait })
    await waiters(world)
    const { id } = await world.client.jobs.create({ job: 'a' })
    expect(await taking).toMatchObject([{ id }])
  })

  test('is answered when a job falls due', async () => {
    const world = await serving()
    const { id } = await world.client.jobs.create({ job: 'a', delay: '5s' })
    const taking = world.client.leases.take({ jobs: ['a'], wait })
    await waiters(world)
    await world.clock.advance(5_000)
    expect(await taking).toMatchObject([{ id }])
  })

  test('ends with 204 and no body when there was none', async () => {
    const world = await serving()
    const asking = world.ask('POST', '/leases', { json: { jobs: ['a'], wait } })
    await waiters(world)
    await world.clock.advance(20_000)
    expect(await asking).toMatchObject({ status: 204, text: '' })
  })

  test('goes on waiting after a job that could not be handed out', async () => {
    const world = await serving({ jobs: { signingKey: 'a secret of 16 bytes or more' } })
    const taking = world.client.leases.take({ jobs: ['a'], wait })
    await waiters(world)
    const forged = await world.service.creating.seal({ job: 'a', payload: '1' })
    await world.backend.send([{ ...forged, payload: '2' }])
    await until(async () => (await world.backend.store.get(forged.id))?.state === 'dead')
    const { id } = await world.client.jobs.create({ job: 'a' })
    expect(await taking).toMatchObject([{ id }])
  })

  test('of two, one gets the job and the other waits on', async () => {
    const world = await serving()
    const first = world.client.leases.take({ jobs: ['a'], wait })
    const second = world.client.leases.take({ jobs: ['a'], wait })
    await waiters(world, 2)
    await world.client.jobs.create({ job: 'a', payload: 1 })
    const early = await Promise.race([first, second])
    expect(early).toHaveLength(1)
    await world.client.jobs.create({ job: 'a', payload: 2 })
    const payloads = (await Promise.all([first, second])).flat().map(({ payload }) => payload)
    expect(payloads.toSorted()).toEqual([1, 2])
  })

  test('of a client that was killed takes no job from the others', async () => {
    const world = await serving()
    const killed = await world.raw()
    killed.send(requestText({ jobs: ['a'], wait }))
    await waiters(world)
    killed.kill()
    await killed.closed()
    await waiters(world, 0)
    const { id } = await world.client.jobs.create({ job: 'a' })
    expect(await world.client.jobs.get(id)).toMatchObject({ state: 'ready', attempts: 0 })
    expect(await world.client.leases.take({ jobs: ['a'] })).toMatchObject([{ id, attempt: 1 }])
  })

  test('of a client that hangs up is over as well', async () => {
    const world = await serving()
    const gone = await world.raw()
    gone.send(requestText({ jobs: ['a'], wait }))
    await waiters(world)
    gone.socket.end()
    await waiters(world, 0)
    const { id } = await world.client.jobs.create({ job: 'a' })
    expect(await world.client.leases.take({ jobs: ['a'] })).toMatchObject([{ id, attempt: 1 }])
  })

  test('of a client that dies while its jobs are claimed puts them back', async () => {
    const world = await serving()
    const { id } = await world.client.jobs.create({ job: 'a' })
    const client = await world.raw()
    const { lease } = world.backend
    world.backend.lease = async (request) => {
      world.backend.lease = lease
      const batch = await lease.call(world.backend, request)
      client.kill()
      await waiters(world, 0)
      return batch
    }
    client.send(requestText({ jobs: ['a'], lease: '1h' }))
    await until(async () => world.backend.lease === lease && (await world.backend.store.get(id))?.state === 'ready')
    expect(await world.client.leases.take({ jobs: ['a'] })).toMatchObject([{ id, attempt: 1 }])
  })

  test('whose answer cannot be delivered puts its jobs back at once', async () => {
    const world = await serving()
    world.jobs.declare('a')
    const { id } = await world.jobs.dispatch('a', 1, { idempotencyKey: 'k' })
    const client = await world.raw()
    // The last thing before a job is handed over.
    const { claimOnce } = world.backend.coordination
    world.backend.coordination.claimOnce = async (...claim) => {
      world.backend.coordination.claimOnce = claimOnce
      client.kill()
      await until(async () => (await connectionsOf(world)) === 0)
      return claimOnce.apply(world.backend.coordination, claim)
    }
    client.send(requestText({ jobs: ['a'], lease: '1h' }))
    await until(async () => {
      return world.backend.coordination.claimOnce === claimOnce && (await world.backend.store.get(id))?.state === 'ready'
    })
    expect(await world.client.leases.take({ jobs: ['a'] })).toMatchObject([{ id, attempt: 1 }])
  })

  test('whose answer is never read puts its jobs back', async () => {
    const world = await serving({ limits: { longestWaitMs: 1, stalledMs: 1_000 } })
    // More than the machine keeps for a client that does not read.
    const payload = 'x'.repeat(900_000)
    world.jobs.declare('a')
    await world.jobs.dispatchMany('a', Array(20).fill(payload))
    const deaf = await world.raw()
    deaf.socket.pause()
    deaf.send(requestText({ jobs: ['a'], limit: 20, lease: '1h' }))
    const states = async () => (await world.backend.store.list({ limit: 20 })).map(({ state }) => state)
    await until(async () => (await states()).every((state) => state === 'running'))
    await until(async () => (await states()).every((state) => state === 'ready'))
    expect(deaf.received).toBe('')
  })

  test('is answered by a name that nobody knew before', async () => {
    const world = await serving()
    const taking = world.client.leases.take({ jobs: ['new-*'], wait })
    await waiters(world)
    await world.client.jobs.create({ job: 'new-one' })
    expect(await taking).toMatchObject([{ job: 'new-one' }])
  })

  test('is refused when too many wait already', async () => {
    const world = await serving({ limits: { maxWaiting: 1 } })
    const taking = world.client.leases.take({ jobs: ['a'], wait })
    await waiters(world)
    expect(await world.ask('POST', '/leases', { json: { jobs: ['a'], wait } })).toMatchObject({
      status: 429,
      headers: { 'retry-after': '1' },
    })
    await world.client.jobs.create({ job: 'a' })
    expect(await taking).toHaveLength(1)
  })

  test('leaves nothing behind, in the server or in the signal of its client', async () => {
    const world = await serving()
    // On Node 20 each call of it takes memory for as long as the longest of its signals lives.
    const any = vi.spyOn(AbortSignal, 'any')
    onTestFinished(() => any.mockRestore())
    const { signal } = new AbortController()
    const taking = world.client.leases.take({ jobs: ['a'], wait }, { signal })
    await waiters(world)
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    await world.client.jobs.create({ job: 'a' })
    expect(await taking).toHaveLength(1)
    expect(getEventListeners(signal, 'abort')).toEqual([])
    expect(any).not.toHaveBeenCalled()
  })

  test('is answered when the server stops', async () => {
    const world = await serving()
    const asking = world.ask('POST', '/leases', { json: { jobs: ['a'], wait } })
    await waiters(world)
    await world.api.close()
    expect(await asking).toMatchObject({ status: 204 })
    expect(await world.problem('GET', '/jobs')).toMatchObject({ status: 503 })
  })
})

function connectionsOf({ server }: Serving): Promise<number> {
  return new Promise((resolve) => server.getConnections((_, count) => resolve(count)))
}
