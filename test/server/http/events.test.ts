import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { type ServerEvent, treadleClient } from '../../../src/client/browser.ts'
import { EventFrames } from '../../../src/client/http/event-frames.ts'
import { until } from '../../world.ts'
import { type Serving, serving } from './serving.ts'

it('a client follows the events of the queue, and leaves when it wants', async () => {
  const place = await serving({ token: 'secret' })
  const { jobs, client } = place
  jobs.define('add', ({ a }: { a: number }) => a + 1)
  const events = client.events({ include: ['payload', 'result', 'timings'] })
  const first = events.next()
  await listening(place)
  await jobs.dispatch('add', { a: 1 })
  await jobs.run()
  const told = [(await first).value as ServerEvent, ...(await take(events, 2))]
  expect(told.map(({ type }) => type)).toEqual(['job:dispatched', 'job:started', 'job:succeeded'])
  expect(told[2]).toMatchObject({ job: 'add', queue: 'default', payload: { a: 1 }, result: 2, position: '1-3' })
  expect(told[2]?.at).toMatch(/^\d{4}-\d\d-\d\dT/)
  expect(told[2]?.timings?.startedAt).toMatch(/^\d{4}-\d\d-\d\dT/)
  await events.return()
  expect(await events.next()).toEqual({ done: true, value: undefined })
})

it('a job that another program makes and does over HTTP is told as well', async () => {
  const place = await serving()
  const { client } = place
  const events = client.events()
  const first = events.next()
  await listening(place)
  await client.jobs.create({ job: 'mail', payload: { to: 'ada' } })
  const [lease] = await client.leases.take({ jobs: ['mail'] })
  await client.leases.settle(lease?.id ?? '', { token: lease?.token ?? '', outcome: 'done', result: 7 })
  const told = [(await first).value as ServerEvent, ...(await take(events, 2))]
  expect(told.map(({ type, job }) => `${type} ${job}`)).toEqual(['job:dispatched mail', 'job:started mail', 'job:succeeded mail'])
  await events.return()
})

it('the events of a job that a remote worker does have its payload, its result and its timings', async () => {
  const place = await serving()
  const { client } = place
  const events = client.events({ job: 'mail', include: ['payload', 'result', 'timings'] })
  const first = events.next()
  await listening(place)
  const take2 = async () => (await client.leases.take({ jobs: ['mail'] }))[0]
  await client.jobs.create({ job: 'mail', payload: { to: 'ada' } })
  const given = await take2()
  await client.leases.settle(given?.id ?? '', { token: given?.token ?? '', outcome: 'release' })
  const lease = await take2()
  await client.leases.settle(lease?.id ?? '', { token: lease?.token ?? '', outcome: 'done', result: 7 })
  const failing = await client.jobs.create({ job: 'mail', payload: { to: 'grace' } })
  const failed = await take2()
  const error = { message: 'no such address' }
  await client.leases.settle(failing.id, { token: failed?.token ?? '', outcome: 'dead', error })
  const told = [(await first).value as ServerEvent, ...(await take(events, 7))]
  expect(told.map(({ type, payload }) => [type, payload])).toEqual([
    ['job:dispatched', { to: 'ada' }],
    ['job:started', { to: 'ada' }],
    ['job:snoozed', { to: 'ada' }],
    ['job:started', { to: 'ada' }],
    ['job:succeeded', { to: 'ada' }],
    ['job:dispatched', { to: 'grace' }],
    ['job:started', { to: 'grace' }],
    ['job:dead', { to: 'grace' }],
  ])
  expect(told[4]).toMatchObject({ result: 7, timings: { createdAt: expect.any(String), durationMs: expect.any(Number) } })
  await events.return()
})

it('a waiting job that is cancelled or deleted over HTTP is told', async () => {
  const place = await serving()
  const { client } = place
  const events = client.events({ types: 'job:cancelled' })
  const first = events.next()
  await listening(place)
  const cancelled = await client.jobs.create({ job: 'mail', payload: null })
  await client.jobs.cancel(cancelled.id)
  const deleted = await client.jobs.create({ job: 'mail', payload: null })
  await client.jobs.delete(deleted.id)
  const told = [(await first).value as ServerEvent, ...(await take(events, 1))]
  expect(told.map(({ id }) => id)).toEqual([cancelled.id, deleted.id])
  await events.return()
})

it('a token sees the events of its own jobs alone, and none of workers and schedules', async () => {
  const tokens = [
    { role: 'read', secret: 'post', queues: ['post'] },
    { role: 'read', secret: 'bills', jobs: ['bill-*'] },
    { role: 'read', secret: 'all' },
  ] as const
  const place = await serving({ tokens: [...tokens] })
  const { jobs } = place
  jobs.define('mail', () => {}).queue('post')
  jobs.define('bill-make', () => {})
  const [post, bills, all] = (await Promise.all(
    tokens.map(({ secret }) => follow(place, '/events', { authorization: `Bearer ${secret}` })),
  )) as [Reader, Reader, Reader]
  await jobs.dispatch('mail')
  await jobs.dispatch('bill-make')
  const working = jobs.work()
  await until(() => all.events.filter(({ type }) => type === 'job:succeeded').length === 2)
  await jobs.stop()
  await working
  expect(all.events.some(({ type }) => type === 'worker:started')).toBe(true)
  await until(() => post.events.length >= 3 && bills.events.length >= 3)
  const types = ['job:dispatched', 'job:started', 'job:succeeded']
  expect(post.events.map(({ type, job }) => `${type} ${job}`)).toEqual(types.map((type) => `${type} mail`))
  expect(bills.events.map(({ type, job }) => `${type} ${job}`)).toEqual(types.map((type) => `${type} bill-make`))
})

it('only tokens of the server may follow', async () => {
  const place = await serving({ tokens: [{ role: 'work', secret: 'worker' }] })
  expect(await place.problem('GET', '/events')).toMatchObject({ status: 401 })
  const wrong = treadleClient({ url: place.url, token: 'wrong', clock: place.clock })
  await expect(wrong.events().next()).rejects.toMatchObject({ problem: { status: 401 } })
})

it('a filter that is wrong is refused with what is wrong', async () => {
  const place = await serving()
  expect(await place.problem('GET', '/events?types=job:succeded')).toMatchObject({
    status: 400,
    detail: expect.stringContaining('job:succeeded'),
  })
  expect(await place.problem('GET', '/events?include=payloads')).toMatchObject({ status: 400 })
  expect(await place.problem('GET', '/events?kind=x')).toMatchObject({ status: 400 })
})

it('a reader that comes back with the id of its last event goes on behind it', async () => {
  const place = await serving()
  const { jobs } = place
  jobs.define('next', () => {})
  const first = await follow(place, '/events')
  await listening(place)
  await jobs.dispatchMany('next', [1, 2, 3])
  await until(() => first.events.length >= 3)
  first.socket.destroy()
  await jobs.dispatchMany('next', [4])
  const again = await follow(place, '/events', { 'last-event-id': first.events[1]?.position ?? '' })
  await until(() => again.events.length >= 2)
  expect(again.events.map(({ position }) => position)).toEqual(['1-3', '1-4'])
  const late = await follow(place, '/events', { 'last-event-id': '0-77' })
  await until(() => late.events.length >= 1)
  expect(late.events[0]).toMatchObject({ type: 'dropped', count: null })
})

it('a reader that does not read loses the oldest events, holds nobody up, and is told how many it lost', async () => {
  const place = await serving()
  const { jobs } = place
  jobs.define('large', (_: string) => {})
  const slow = await follow(place, '/events?include=payload')
  slow.socket.pause()
  const quick = await follow(place, '/events?types=job:dispatched')
  const count = 2_500
  for (let sent = 0; sent < count; sent += 500) {
    const before = quick.told
    await jobs.dispatchMany(
      'large',
      Array.from({ length: 500 }, () => 'x'.repeat(10_000)),
    )
    await until(() => quick.told >= before + 500)
  }
  slow.socket.resume()
  await until(() => slow.events.some(({ type }) => type === 'dropped') && slow.told === count)
  expect(slow.events.filter(({ type }) => type !== 'dropped').length).toBeLessThan(count)
  expect(quick.told).toBe(count)
})

it('so many may follow at once, and no more', async () => {
  const place = await serving({ limits: { maxEventStreams: 1 } })
  const one = await follow(place, '/events')
  expect(await place.problem('GET', '/events')).toMatchObject({ status: 429 })
  one.socket.destroy()
  await until(async () => (await place.ask('HEAD', '/events')).status === 200)
  await until(async () => (await place.ask('HEAD', '/events')).status === 200)
})

it('streams end when the server is stopped', async () => {
  const place = await serving()
  const reader = await follow(place, '/events')
  const ended = once(reader.socket, 'end')
  await place.api.close()
  place.server.closeIdleConnections()
  place.server.close()
  await ended
})

it('the payload and the error of an encrypted job are told to no client', async () => {
  const place = await serving({ jobs: { signingKey: 'k'.repeat(32), encrypt: true } })
  const { jobs, client } = place
  jobs
    .define('pay', (_: { card: string }) => {
      throw new Error('card 4111 was refused')
    })
    .retries(0)
  const events = client.events({ types: 'job:dead', include: ['payload'] })
  const first = events.next()
  await listening(place)
  await jobs.dispatch('pay', { card: '4111' })
  await jobs.run()
  const { value } = await first
  expect(JSON.stringify(value)).not.toContain('4111')
  expect(value).toMatchObject({ type: 'job:dead', error: { message: expect.stringMatching(/^encrypted/) } })
  await events.return()
})

interface Reader {
  readonly socket: Socket
  readonly events: ServerEvent[]
  /** How many events it was told of, with those that were dropped. */
  readonly told: number
}

/** A reader that can stop reading, which no client would. */
async function follow({ port }: Serving, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Reader> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8')
  onTestFinished(() => {
    socket.destroy()
  })
  const events: ServerEvent[] = []
  const frames = new EventFrames()
  let told = 0
  let head = ''
  socket.on('data', (piece: string) => {
    const isBegun = head.includes('\r\n\r\n')
    if (!isBegun) head += piece
    const text = isBegun ? piece : bodyOf(head)
    // Each piece is a chunk of the transfer, whose length stands in a line of its own.
    for (const { data } of frames.read(text.replaceAll(/(?:^|\r\n)[0-9a-f]+\r\n/g, '').replaceAll('\r\n', ''))) {
      const event = JSON.parse(data) as ServerEvent
      events.push(event)
      told += event.type === 'dropped' ? (event.count ?? 0) : 1
    }
  })
  const lines = Object.entries({ host: `127.0.0.1:${port}`, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`GET /api/v1${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
  await until(() => head.includes('\r\n\r\n'))
  expect(head).toContain('200 OK')
  return {
    socket,
    events,
    get told() {
      return told
    },
  }
}

function bodyOf(head: string): string {
  return head.includes('\r\n\r\n') ? head.slice(head.indexOf('\r\n\r\n') + 4) : ''
}

async function listening({ backend }: Serving): Promise<void> {
  await until(async () => {
    const [wants = '[]'] = (await backend.store.events?.wanted()) ?? []
    return (JSON.parse(wants) as unknown[]).length > 0
  })
}

async function take(events: AsyncGenerator<ServerEvent, void>, count: number): Promise<ServerEvent[]> {
  const taken: ServerEvent[] = []
  while (taken.length < count) {
    const { done, value } = await events.next()
    if (done || value === undefined) break
    taken.push(value)
  }
  return taken
}
