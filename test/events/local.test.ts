import { expect, it } from 'vitest'
import { type EventDetails, treadle } from '../../src/index.ts'

it('an event says the payload, the meta, the tags, the result and the timings of its job where it is asked to', async () => {
  await using jobs = treadle('memory:')
  const add = jobs.define('add', ({ a, b }: { a: number; b: number }) => a + b).tags('sums')
  const plain: object[] = []
  const full: EventDetails[] = []
  jobs.on('job:succeeded', (event) => plain.push(event))
  jobs.on('job:succeeded', (event) => full.push(event), { include: ['payload', 'meta', 'tags', 'result', 'timings'] })
  await add.dispatch({ a: 1, b: 2 }, { meta: { customer: 'ada' } })
  await jobs.run()

  expect(full).toHaveLength(1)
  expect(full[0]).toMatchObject({ payload: { a: 1, b: 2 }, meta: { customer: 'ada' }, tags: ['sums'], result: 3 })
  const { createdAt = 0, dueAt = 0, startedAt = 0, endedAt = 0, waitMs, durationMs } = full[0]?.timings ?? {}
  expect([createdAt, dueAt, startedAt, endedAt]).toEqual([createdAt, dueAt, startedAt, endedAt].toSorted((a, b) => a - b))
  expect(createdAt).toBeGreaterThan(0)
  expect([waitMs, durationMs].every((ms) => typeof ms === 'number' && ms >= 0)).toBe(true)
  expect(Object.keys(plain[0] ?? {}).toSorted()).toEqual(['attempt', 'durationMs', 'id', 'job', 'name', 'queue'])
})

it('a job that is stored is told, and one whose unique key was taken is not', async () => {
  await using jobs = treadle('memory:')
  const mail = jobs.define('mail', (_: { to: string }) => {}).queue('post')
  const told: unknown[] = []
  jobs.on('job:dispatched', ({ id, job, queue, payload }) => told.push({ id, job, queue, payload }), { include: ['payload'] })
  const run = await mail.dispatch({ to: 'ada' }, { unique: 'once' })
  await mail.dispatch({ to: 'bob' }, { unique: 'once' })
  await jobs.dispatchMany(mail, [{ to: 'cid' }, { to: 'dan' }])
  expect(told).toEqual([
    { id: run.id, job: 'mail', queue: 'post', payload: { to: 'ada' } },
    { id: expect.any(String), job: 'mail', queue: 'post', payload: { to: 'cid' } },
    { id: expect.any(String), job: 'mail', queue: 'post', payload: { to: 'dan' } },
  ])
})

it('the payload and the error of an encrypted job are told to those who listen in its own program', async () => {
  await using jobs = treadle('memory:', { signingKey: 'k'.repeat(32), encrypt: true })
  const secret = jobs
    .define('secret', (_: { pin: number }) => {
      throw new Error('the pin is wrong')
    })
    .retries(0, { jitter: 'none' })
  const told: EventDetails[] = []
  jobs.on('job:dead', (event) => told.push(event), { include: ['payload'] })
  await secret.dispatch({ pin: 1234 })
  await jobs.run()
  expect(told).toMatchObject([{ payload: { pin: 1234 }, error: { message: 'the pin is wrong' } }])
})

it('a detail that nobody knows is refused', async () => {
  await using jobs = treadle('memory:')
  const include = ['payloads'] as never
  expect(() => jobs.on('job:dead', () => {}, { include })).toThrow(/include must be a list of payload, meta/)
})
