import { describe, expect, onTestFinished, test } from 'vitest'
import { treadleClient } from '../../src/client/http/http-client.ts'
import type { RemoteHandlers, RemoteWorkOptions } from '../../src/client/remote-options.ts'
import type { RemoteContext } from '../../src/client/remote-run.ts'
import { PermanentError } from '../../src/core/errors.ts'
import { nextTurn } from '../../src/core/time/clock.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { type Serving, serving } from '../server/http/serving.ts'
import { aborted, gate, until } from '../world.ts'

type Handlers = RemoteHandlers<Record<string, unknown>>

/** A remote worker that ends with its test. */
function working(world: Serving, handlers: Handlers, options: RemoteWorkOptions = {}) {
  const errors: unknown[] = []
  const worker = world.client.work(handlers, { onError: (error) => errors.push(error), ...options })
  onTestFinished(async () => {
    let isStopped = false
    const stopping = worker.stop().then(() => {
      isStopped = true
    })
    // What a failed test left running is not waited for.
    await until(async () => {
      await world.clock.advance(10_000)
      return isStopped
    })
    await stopping
  })
  return { worker, errors }
}

function ended({ backend }: Serving, id: string): Promise<void> {
  return until(async () => ['succeeded', 'dead', 'cancelled'].includes((await backend.store.get(id))?.state ?? ''))
}

describe('a remote worker', () => {
  test('does jobs as they come, and gives their results', async () => {
    const world = await serving()
    working(world, { double: async (payload) => ({ n: (payload as { n: number }).n * 2 }) })
    await until(() => world.api.waiting === 1)
    const { id } = await world.client.jobs.create({ job: 'double', payload: { n: 21 } })
    await ended(world, id)
    expect(await world.client.jobs.get(id)).toMatchObject({ state: 'succeeded', result: { n: 42 }, attempts: 1 })
  })

  test('takes only the jobs that it has handlers for', async () => {
    const world = await serving()
    const { id } = await world.client.jobs.create({ job: 'other' })
    working(world, { mine: async () => {} })
    await until(() => world.api.waiting === 1)
    expect(await world.client.jobs.get(id)).toMatchObject({ state: 'ready' })
  })

  test('has a handler for all names that match a pattern, unless one of them has its own', async () => {
    const world = await serving()
    const saying =
      (text: string) =>
      async (_: unknown, { job }: RemoteContext) =>
        `${text} ${job}`
    working(world, { 'mail/*': saying('any'), 'mail/welcome': saying('own'), '[*]': saying('star') })
    await until(() => world.api.waiting === 1)
    const results = []
    for (const job of ['mail/invoice', 'mail/welcome', '*']) {
      const { id } = await world.client.jobs.create({ job })
      await ended(world, id)
      results.push((await world.client.jobs.get(id)).result)
    }
    expect(results).toEqual(['any mail/invoice', 'own mail/welcome', 'star *'])
  })

  test('has at most as many at once as it may', async () => {
    const world = await serving()
    const hold = gate()
    let running = 0
    let most = 0
    const made = await world.client.jobs.createMany(Array.from({ length: 6 }, () => ({ job: 'a' })))
    const handler = async () => {
      most = Math.max(most, ++running)
      await hold.opened
      running--
    }
    const { worker } = working(world, { a: handler }, { concurrency: 2 })
    await until(() => running === 2)
    expect(worker.running).toBe(2)
    hold.open()
    for (const { id } of made) await ended(world, id)
    expect(most).toBe(2)
  })

  test('leaves nothing behind of the jobs that it has done', async () => {
    const world = await serving()
    const warnings: Error[] = []
    const hear = (warning: Error) => warnings.push(warning)
    process.on('warning', hear)
    onTestFinished(() => void process.off('warning', hear))
    const made = await world.client.jobs.createMany(Array.from({ length: 30 }, () => ({ job: 'a' })))
    working(world, { a: async () => {} }, { concurrency: 1 })
    for (const { id } of made) await ended(world, id)
    expect(warnings.map(({ name }) => name)).toEqual([])
  })

  test('tells its handler of the job, and the server of its progress', async () => {
    const world = await serving()
    let seen: RemoteContext | undefined
    const handler = async (_: unknown, context: RemoteContext) => {
      seen = context
      await context.progress({ half: true })
    }
    const { id } = await world.client.jobs.create({ job: 'a', queue: 'mail', maxRetries: 3, meta: { x: 1 } })
    working(world, { a: handler })
    await ended(world, id)
    expect(seen).toMatchObject({ id, job: 'a', name: 'a', queue: 'mail', attempt: 1, maxRetries: 3, meta: { x: 1 } })
    expect(await world.client.jobs.get(id)).toMatchObject({ progress: { half: true } })
  })

  test('has failures tried again, and not those that nothing can mend', async () => {
    const world = await serving()
    let calls = 0
    const flaky = async () => {
      if (++calls === 1) throw Object.assign(new Error('not yet'), { code: 'E_EARLY' })
    }
    const hopeless = () => {
      throw new PermanentError('never')
    }
    const [first, second] = await world.client.jobs.createMany([
      { job: 'flaky', maxRetries: 1 },
      { job: 'hopeless', maxRetries: 5 },
    ])
    working(world, { flaky, hopeless })
    await ended(world, second?.id ?? '')
    expect(await world.client.jobs.get(second?.id ?? '')).toMatchObject({ state: 'dead', reason: 'permanent', attempts: 1 })
    await until(async () => (await world.backend.store.get(first?.id ?? ''))?.state === 'scheduled')
    await world.clock.advance(1_000)
    await ended(world, first?.id ?? '')
    expect(await world.client.jobs.get(first?.id ?? '')).toMatchObject({
      state: 'succeeded',
      errors: [{ message: 'not yet', code: 'E_EARLY', stack: expect.stringContaining('not yet') }],
    })
  })

  test('keeps its jobs while they run', async () => {
    const world = await serving()
    const hold = gate()
    const { id } = await world.client.jobs.create({ job: 'a' })
    const { worker } = working(world, { a: () => hold.opened }, { lease: '9s' })
    await until(() => worker.running === 1)
    for (let beat = 1; beat <= 10; beat++) {
      const expiresAt = (await world.backend.store.get(id))?.leaseExpiresAt ?? 0
      await world.clock.advance(3_000)
      await until(async () => ((await world.backend.store.get(id))?.leaseExpiresAt ?? 0) > expiresAt)
    }
    hold.open()
    await ended(world, id)
    expect(await world.client.jobs.get(id)).toMatchObject({ state: 'succeeded', attempts: 1, rescues: 0 })
  })

  test('stops a job that was cancelled', async () => {
    const world = await serving()
    const { id } = await world.client.jobs.create({ job: 'a' })
    const { worker } = working(world, { a: (_, { signal }) => aborted(signal) }, { lease: '9s' })
    await until(() => worker.running === 1)
    await world.client.jobs.cancel(id)
    await world.clock.advance(3_000)
    await ended(world, id)
    expect(await world.client.jobs.get(id)).toMatchObject({ state: 'cancelled' })
  })

  test('lets go of a job whose lease is lost, and does not end it', async () => {
    const world = await serving()
    const { id } = await world.client.jobs.create({ job: 'a' })
    let reason: unknown
    const handler = async (_: unknown, { signal }: RemoteContext) => {
      await aborted(signal).catch(() => {})
      reason = signal.reason
      return 'too late'
    }
    const { worker } = working(world, { a: handler }, { lease: '9s', concurrency: 1 })
    await until(() => worker.running === 1)
    // Somebody says that the worker is dead.
    const [held] = await world.backend.store.leases({ ids: [id] })
    await world.backend.reap(3, [held?.owner ?? ''])
    const [other] = await world.client.leases.take({ jobs: ['a'], lease: '1h' })
    await world.clock.advance(3_000)
    await until(() => worker.running === 0 && reason !== undefined)
    expect(reason).toMatchObject({ code: 'STOPPED', message: expect.stringContaining('its lease is lost') })
    expect(await world.client.leases.settle(id, { token: other?.token ?? '', outcome: 'done' })).toBe('done')
  })

  test('ends an attempt that takes longer than its timeout, also where the handler does not listen', async () => {
    const world = await serving()
    const { id } = await world.client.jobs.create({ job: 'a', timeout: '5s' })
    const { worker } = working(world, { a: () => new Promise(() => {}) })
    await until(() => worker.running === 1)
    await world.clock.advance(5_000)
    await ended(world, id)
    expect(await world.client.jobs.get(id)).toMatchObject({ state: 'dead', errors: [{ code: 'TIMEOUT' }] })
  })

  test('leaves out a result that is no JSON, and says so', async () => {
    const world = await serving()
    const { id } = await world.client.jobs.create({ job: 'a' })
    const { errors } = working(world, { a: async () => 1n })
    await ended(world, id)
    expect(await world.client.jobs.get(id)).toMatchObject({ state: 'succeeded', result: null })
    expect(errors).toMatchObject([{ code: 'PAYLOAD_NOT_JSON' }])
  })

  test('goes on when the server was away', async () => {
    const world = await serving()
    const { errors } = working(world, { a: async () => 'done' })
    await until(() => world.api.waiting === 1)
    world.server.closeAllConnections()
    await until(() => errors.length === 1)
    expect(errors).toMatchObject([{ code: 'SERVER_UNREACHABLE' }])
    const { id } = await world.client.jobs.create({ job: 'a' })
    await world.clock.advance(500)
    await ended(world, id)
    expect(await world.client.jobs.get(id)).toMatchObject({ state: 'succeeded' })
  })
})

describe('a remote worker that is turned away', () => {
  /** A client whose token for new jobs can be taken back. */
  function doubted({ url }: Serving) {
    const clock = new ManualClock()
    const access = { isRevoked: false }
    const asking: typeof fetch = (address, init) => {
      const revoked = access.isRevoked && String(address).endsWith('/leases') ? { authorization: 'Bearer old' } : {}
      return fetch(address, { ...init, headers: { ...(init?.headers as Record<string, string>), ...revoked } })
    }
    return { access, clock, client: treadleClient({ url, clock, token: 'right', fetch: asking }) }
  }

  test('tells why, once, and ends no program that does not listen', async () => {
    const world = await serving({ token: 'right' })
    const client = treadleClient({ url: world.url, clock: world.clock, token: 'wrong' })
    const [errors, unhandled]: [unknown[], unknown[]] = [[], []]
    const hear = (reason: unknown) => unhandled.push(reason)
    process.on('unhandledRejection', hear)
    onTestFinished(() => void process.off('unhandledRejection', hear))
    const worker = client.work({ a: async () => {} }, { onError: (error) => errors.push(error) })
    await until(() => errors.length === 1)
    await nextTurn()
    await expect(worker.ended).rejects.toMatchObject({ problem: { status: 401 } })
    await worker.stop()
    expect(errors).toMatchObject([{ problem: { status: 401 } }])
    expect(unhandled).toEqual([])
  })

  test('does what it has begun, and gives no sign of life after it', async () => {
    const world = await serving({ token: 'right' })
    const { access, clock, client } = doubted(world)
    const hold = gate()
    const errors: unknown[] = []
    const { id } = await world.client.jobs.create({ job: 'a' })
    const options = { concurrency: 2, wait: '5s', lease: '30s', onError: (error: unknown) => errors.push(error) }
    const worker = client.work({ a: () => hold.opened }, options)
    await until(() => worker.running === 1 && world.api.waiting === 1)
    access.isRevoked = true
    await world.clock.advance(5_000)
    await until(() => errors.length === 1)
    expect(worker.running).toBe(1)
    hold.open()
    await expect(worker.ended).rejects.toMatchObject({ problem: { status: 401 } })
    expect(await world.client.jobs.get(id)).toMatchObject({ state: 'succeeded' })
    expect(errors).toHaveLength(1)
    expect(clock.nextTimerAt).toBe(null)
  })
})

describe('a remote worker that is stopped', () => {
  test('ends its wait at once, and takes nothing more', async () => {
    const world = await serving()
    const { worker } = working(world, { a: async () => {} })
    await until(() => world.api.waiting === 1)
    await worker.stop()
    await worker.stop()
    await until(() => world.api.waiting === 0)
    const { id } = await world.client.jobs.create({ job: 'a' })
    expect(await world.client.jobs.get(id)).toMatchObject({ state: 'ready' })
  })

  test('waits for what runs', async () => {
    const world = await serving()
    const hold = gate()
    const { id } = await world.client.jobs.create({ job: 'a' })
    const { worker } = working(world, { a: () => hold.opened })
    await until(() => worker.running === 1)
    const stopping = worker.stop()
    hold.open()
    await stopping
    expect(await world.client.jobs.get(id)).toMatchObject({ state: 'succeeded' })
  })

  test('aborts what takes too long, and gives it back unburnt', async () => {
    const world = await serving()
    const [listens, deaf] = await world.client.jobs.createMany([{ job: 'listens' }, { job: 'deaf' }])
    const handlers: Handlers = { listens: (_, { signal }) => aborted(signal), deaf: () => new Promise(() => {}) }
    const { worker } = working(world, handlers, { grace: '10s' })
    await until(() => worker.running === 2)
    const stopping = worker.stop()
    await world.clock.advance(10_000)
    await until(async () => (await world.backend.store.get(listens?.id ?? ''))?.state === 'ready')
    expect(worker.running).toBe(1)
    await world.clock.advance(5_000)
    await stopping
    for (const made of [listens, deaf])
      expect(await world.client.jobs.get(made?.id ?? '')).toMatchObject({ state: 'ready', attempts: 0 })
  })

  test('stops by its signal, and at the end of its block', async () => {
    const world = await serving()
    const stopping = new AbortController()
    const { worker } = working(world, { a: async () => {} }, { signal: stopping.signal })
    await until(() => world.api.waiting === 1)
    stopping.abort()
    await worker.ended
    {
      await using _ = world.client.work({ a: async () => {} })
      await until(() => world.api.waiting === 1)
    }
    await until(() => world.api.waiting === 0)
  })
})

test.each<[string, object, object]>([
  ['there is no handler', {}, {}],
  ['the handler of "a" must be a function', { a: 1 }, {}],
  ['concurrency must be a whole number from 1 to 1000, got 0', { a: () => {} }, { concurrency: 0 }],
  ['lease must be', { a: () => {} }, { lease: 'long' }],
  ['unknown option "concurency"', { a: () => {} }, { concurency: 1 }],
])('options that make no sense are refused: %s', async (message, handlers, options) => {
  const { client } = await serving()
  expect(() => client.work(handlers as Handlers, options)).toThrow(message)
})
