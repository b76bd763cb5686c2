import { expect, it } from 'vitest'
import { openMemory } from '../../src/engines/memory/index.ts'
import { type EventStream, type QueueEvent, type Treadle, treadle } from '../../src/index.ts'
import type { QueueBackend } from '../../src/queue/contract/contract.ts'
import type { EventStore } from '../../src/queue/contract/stores/event-store.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { until } from '../world.ts'

it('a program hears what happens in another one', async () => {
  await using place = twoPrograms()
  const { worker, other } = place
  worker.define('add', ({ a }: { a: number }) => a + 1).tags('sums')
  const events = other.events({ include: ['payload', 'meta', 'tags', 'result', 'timings'] })
  await events.listening
  await worker.dispatch('add', { a: 1 }, { meta: { for: 'ada' } })
  await worker.run()
  const told = await take(events, 3)
  expect(told.map(({ type }) => type)).toEqual(['job:dispatched', 'job:started', 'job:succeeded'])
  expect(told[2]).toMatchObject({ job: 'add', payload: { a: 1 }, meta: { for: 'ada' }, tags: ['sums'], result: 2 })
  expect(told[2]).toMatchObject({ at: expect.any(Number), position: '1-3', process: expect.stringMatching(/:\d+$/) })
  expect(told[2]).toHaveProperty('timings.waitMs')
  expect(told[0]).not.toHaveProperty('result')
})

it('a waiting job that is cancelled is told, with its details; the worker tells of a running one', async () => {
  await using place = twoPrograms()
  const { worker, other } = place
  const mail = worker.define('mail', (_: { to: string }) => {})
  const events = other.events({ types: 'job:cancelled', include: ['payload', 'timings'] })
  await events.listening
  const ready = await mail.dispatch({ to: 'ada' })
  const later = await mail.delay('1h').dispatch({ to: 'grace' })
  await other.handle(ready.id).cancel()
  expect(await later.cancel()).toBe(true)
  expect(await later.cancel()).toBe(false)
  const told = await take(events, 2)
  expect(told).toMatchObject([
    { id: ready.id, job: 'mail', queue: 'default', attempt: 0, payload: { to: 'ada' } },
    { id: later.id, payload: { to: 'grace' }, timings: { endedAt: expect.any(Number) } },
  ])
})

it('the waiting jobs of a workflow that is cancelled are told one by one', async () => {
  await using place = twoPrograms()
  const { worker, other } = place
  const step = worker.define('step', (_: number) => {})
  const events = other.events({ types: 'job:cancelled', include: ['payload'] })
  await events.listening
  const flow = await worker.chain([step.step(1), step.step(2), step.step(3)])
  await worker.run({ limit: 1 })
  await flow.cancel()
  const alone = await step.dispatch(4)
  await alone.cancel({ tree: true })
  const told = await take(events, 3)
  expect(told.map((event) => ('payload' in event ? event.payload : null))).toEqual([3, 2, 4])
})

it('what is not asked for does not travel', async () => {
  await using place = twoPrograms()
  const { worker, other, backend } = place
  worker.define('quiet', (_: { secret: string }) => 'done')
  const events = other.events()
  await events.listening
  await worker.dispatch('quiet', { secret: 'in the payload' })
  const [told] = await take(events, 1)
  expect(Object.keys(told ?? {}).toSorted()).toEqual(['at', 'dueAt', 'id', 'job', 'name', 'position', 'process', 'queue', 'type'])
  const texts = (await backend.store.events?.read(0, 10)) ?? []
  expect(texts.map(({ text }) => text).join()).not.toContain('in the payload')
})

it('only the events that a filter names are heard, by their type, job, queue, tag and id', async () => {
  await using place = twoPrograms()
  const { worker, other } = place
  const mail = worker.define('mail-send', () => {}).queue('post')
  const bill = worker.define('bill', () => {}).tags('money')
  const filters = {
    types: other.events({ types: 'job:succeeded' }),
    pattern: other.events({ job: 'mail-*' }),
    queue: other.events({ queue: 'default', types: 'job:started' }),
    tag: other.events({ tag: ['money', 'other'], types: ['job:*'] }),
    id: other.events({ id: 'x'.repeat(36) }),
  }
  for (const stream of Object.values(filters)) await stream.listening
  await mail.dispatch()
  const run = await bill.dispatch()
  const byId = other.events({ id: run.id })
  await byId.listening
  await worker.run()
  expect(jobsOf(await take(filters.types, 2))).toEqual(['mail-send', 'bill'])
  expect(typesOf(await take(filters.pattern, 3))).toEqual(['job:dispatched', 'job:started', 'job:succeeded'])
  expect(jobsOf(await take(filters.queue, 1))).toEqual(['bill'])
  expect(jobsOf(await take(filters.tag, 3))).toEqual(['bill', 'bill', 'bill'])
  expect(jobsOf(await take(byId, 2))).toEqual(['bill', 'bill'])
  await filters.id.close()
  expect(await filters.id.next()).toEqual({ done: true, value: undefined })
})

it('a reader that does not read loses the oldest events, and is told how many', async () => {
  await using place = twoPrograms()
  const { worker, other } = place
  worker.define('many', () => {})
  const slow = other.events({ types: 'job:dispatched', buffer: 10 })
  const quick = other.events({ types: 'job:dispatched' })
  await Promise.all([slow.listening, quick.listening])
  await worker.dispatchMany(
    'many',
    Array.from({ length: 100 }, (_, n) => n),
  )
  await take(quick, 100)
  expect(slow.dropped).toBe(90)
  const [dropped, ...rest] = await take(slow, 11)
  expect(dropped).toMatchObject({ type: 'dropped', count: 90, position: '1-90' })
  expect(rest.map(({ position }) => position)).toEqual(Array.from({ length: 10 }, (_, n) => `1-${91 + n}`))
})

it('a reader that comes back goes on behind the event that it had last, or is told that it missed some', async () => {
  await using place = twoPrograms()
  const { worker, other } = place
  worker.define('next', () => {})
  const first = other.events({ types: 'job:dispatched' })
  const keeper = other.events()
  await Promise.all([first.listening, keeper.listening])
  await worker.dispatchMany('next', [1, 2, 3])
  const [seen] = await take(first, 1)
  await first.close()
  await take(keeper, 3)
  const again = other.events({ types: 'job:dispatched', after: seen?.position ?? '' })
  expect((await take(again, 2)).map(({ position }) => position)).toEqual(['1-2', '1-3'])
  await keeper.close()
  await again.close()

  const late = other.events({ after: '1-3' })
  expect(await take(late, 1)).toMatchObject([{ type: 'dropped', count: null }])
})

it('where the queue has dropped events, it is told how many', async () => {
  await using place = twoPrograms()
  const { other, backend } = place
  const events = other.events()
  await events.listening
  const text = '[{"type":"job:started","at":1,"process":"h:1","id":"a","job":"a","name":"a","queue":"q","attempt":1}]'
  await backend.store.events?.append([{ events: 1, dropped: 7, text }])
  expect(await take(events, 2)).toMatchObject([
    { type: 'dropped', count: 7 },
    { type: 'job:started', position: '1-8' },
  ])
})

it('nothing is asked while nothing happens, and nothing is written while nobody listens', async () => {
  await using place = twoPrograms()
  const { worker, backend } = place
  const calls: string[] = []
  const store = backend.store.events as EventStore
  for (const name of ['wanted', 'append', 'listen'] as const) {
    const real = store[name].bind(store) as (...given: unknown[]) => Promise<never>
    Object.assign(store, {
      [name]: (...given: unknown[]) => {
        calls.push(name)
        return real(...given)
      },
    })
  }
  worker.define('work', () => {})
  await worker.open()
  expect(calls).toEqual([])
  await worker.dispatchMany(
    'work',
    Array.from({ length: 500 }, (_, n) => n),
  )
  await worker.run()
  expect(new Set(calls)).toEqual(new Set(['wanted']))
})

it('the payload and the error of an encrypted job do not travel in the open, and are read by those who have the key', async () => {
  const signingKey = 'k'.repeat(32)
  await using place = twoPrograms({ signingKey, encrypt: true })
  const { worker, other, backend } = place
  worker
    .define('pay', (_: { card: string }) => {
      throw new Error('card 4111 was refused')
    })
    .retries(0)
  const events = other.events({ types: 'job:dead', include: ['payload'] })
  await events.listening
  await worker.dispatch('pay', { card: '4111' })
  await worker.run()
  expect(await take(events, 1)).toMatchObject([{ payload: { card: '4111' }, error: { message: 'card 4111 was refused' } }])
  const texts = ((await backend.store.events?.read(0, 10)) ?? []).map(({ text }) => text).join()
  expect(texts).toContain('job:dead')
  expect(texts).not.toContain('4111')
})

it('of an encrypted job only an error is said to be one, and only where there is one', async () => {
  await using place = twoPrograms({ signingKey: 'k'.repeat(32), encrypt: true })
  const { worker, other } = place
  worker
    .define('pay', (_: { card: string }) => {
      throw new Error('card 4111 was refused')
    })
    .retries(0)
  const events = other.events({ types: ['job:dispatched', 'job:dead'], include: ['payload'], decrypt: false })
  await events.listening
  await worker.dispatch('pay', { card: '4111' })
  await worker.run()
  const [dispatched, dead] = await take(events, 2)
  expect(dispatched).not.toHaveProperty('error')
  expect(dead).toMatchObject({ error: { message: 'encrypted (default)' } })
  expect(JSON.stringify([dispatched, dead])).not.toContain('4111')
})

it('what somebody has written in the place of an event is passed over', async () => {
  await using place = twoPrograms({ signingKey: 'k'.repeat(32) })
  const { other, backend } = place
  const events = other.events()
  await events.listening
  const whole = { type: 'job:dead', at: 1, process: 'a:1', id: 'x', job: 'pay', queue: 'default' }
  const forged = [7, null, {}, { type: 'job:dead' }, { ...whole, at: 1e300 }, { ...whole, secret: 7 }, { ...whole, secret: null }]
  await backend.store.events?.append([{ events: forged.length, dropped: 0, text: JSON.stringify(forged) }])
  expect(await take(events, 2)).toMatchObject([whole, whole])
})

it('a payload that is too large for an event is left out of it', async () => {
  await using place = twoPrograms()
  const { worker, other } = place
  worker.define('large', (_: string) => {})
  const events = other.events({ include: ['payload'] })
  await events.listening
  await worker.dispatch('large', 'x'.repeat(100_000))
  const [told] = await take(events, 1)
  expect(told).toMatchObject({ type: 'job:dispatched', job: 'large', omitted: ['payload', 'result', 'meta'] })
  expect(told).not.toHaveProperty('payload')
})

it('streams end with their signal, and with the program', async () => {
  const { worker, other } = twoPrograms()
  const ending = new AbortController()
  const signalled = other.events({ signal: ending.signal })
  const open = other.events()
  await Promise.all([signalled.listening, open.listening])
  const waiting = [signalled.next(), open.next()]
  ending.abort()
  expect(await waiting[0]).toEqual({ done: true, value: undefined })
  await other.close()
  expect(await waiting[1]).toEqual({ done: true, value: undefined })
  await worker.close()
})

it('a wrong filter is refused with what would be right', async () => {
  await using jobs = treadle('memory:')
  expect(() => jobs.events({ types: 'job:succeded' })).toThrow(/There is no event 'job:succeded'.*job:succeeded/)
  expect(() => jobs.events({ job: [7] as never })).toThrow(/job must be a string/)
  expect(() => jobs.events({ buffer: 0 })).toThrow(/buffer must be a whole number/)
  expect(() => jobs.events({ kind: 'job:dead' } as never)).toThrow(/kind/)
})

it('a queue without a store says that it cannot tell', async () => {
  const memory = openMemory({ clock: new ManualClock() })
  const calls = {
    send: memory.send.bind(memory),
    lease: memory.lease.bind(memory),
    settle: memory.settle.bind(memory),
    begin: memory.begin.bind(memory),
    extend: memory.extend.bind(memory),
    reap: memory.reap.bind(memory),
    watch: memory.watch.bind(memory),
  }
  const backend: QueueBackend = { kind: 'broker', ...calls, [Symbol.asyncDispose]: () => memory[Symbol.asyncDispose]() }
  await using jobs = treadle({ backend })
  await expect(jobs.events().next()).rejects.toMatchObject({
    code: 'CAPABILITY_MISSING',
    message: expect.stringContaining('broker backend cannot pass events'),
  })
})

/** Two programs on one queue in memory, as two processes on one database. */
function twoPrograms(options: { readonly signingKey?: string; readonly encrypt?: boolean } = {}) {
  const clock = new ManualClock()
  const backend = openMemory({ clock })
  const worker: Treadle = treadle({ backend, clock, ...options })
  const other: Treadle = treadle({ backend, clock, ...options })
  const close = async () => {
    await other.close()
    await worker.close()
  }
  return { worker, other, backend, [Symbol.asyncDispose]: close }
}

async function take(events: EventStream, count: number): Promise<readonly QueueEvent[]> {
  const taken: QueueEvent[] = []
  while (taken.length < count) {
    const { done, value } = await events.next()
    if (done || value === undefined) break
    taken.push(value)
  }
  await until(() => true)
  return taken
}

function jobsOf(events: readonly QueueEvent[]): readonly unknown[] {
  return events.map((event) => ('job' in event ? event.job : null))
}

function typesOf(events: readonly QueueEvent[]): readonly string[] {
  return events.map(({ type }) => type)
}
