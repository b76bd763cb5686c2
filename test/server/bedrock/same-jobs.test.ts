import { describe, expect, test } from 'vitest'
import { serving as servingHttp } from '../http/serving.ts'
import { served } from './served.ts'

test('a job that came over the wire is run by a worker of the program', async () => {
  const { jobs, ask, backend } = await served({ program: { signingKey: 'a key for this test alone' } })
  const seen: unknown[] = []
  jobs.define('mail', async (payload: { to: string }) => {
    seen.push(payload)
    return { sent: true }
  })
  await ask('CreateJob', { name: 'mail', data: { to: 'ada' } })
  await jobs.run()
  expect(seen).toEqual([{ to: 'ada' }])
  expect((await ask('QueryJob', { jobID: 1 })).status).toBe('404 No job with this jobID')
  const [id] = await backend.store.numbers!.find([1])
  expect(await backend.store.get(id as string)).toMatchObject({ state: 'succeeded', result: '{"sent":true}' })
})

test('a job that repeats comes back whoever has done it', async () => {
  const { jobs, ask, clock } = await served({ at: Date.UTC(2026, 0, 1) })
  let runs = 0
  jobs.define('report', async () => void runs++)
  await ask('CreateJob', { name: 'report', repeat: 'SCHEDULED, +1 HOUR', data: { round: 0 } })
  for (const next of ['01', '02', '03']) {
    await jobs.run()
    expect((await ask('QueryJob', { jobID: 1 })).json).toMatchObject({ state: 'QUEUED', nextRun: `2026-01-01 ${next}:00:00` })
    await clock.advance(3_600_000)
  }
  expect(runs).toBe(3)
  await ask('GetJob', { name: 'report' })
  await ask('FinishJob', { jobID: 1, data: { round: 1 } })
  expect((await ask('QueryJob', { jobID: 1 })).json).toMatchObject({ nextRun: '2026-01-01 04:00:00', data: { round: 1 } })
})

test('a client is told when a worker of the program last ran its job', async () => {
  const { jobs, ask, clock } = await served({ at: Date.UTC(2026, 0, 1), program: { signingKey: 'a key for this test alone' } })
  jobs.define('report', async () => {})
  await ask('CreateJob', { name: 'report', repeat: 'FINISHED, +1 HOUR' })
  for (const hour of ['00', '01', '02']) {
    await jobs.run()
    expect((await ask('QueryJob', { jobID: 1 })).json.lastRun).toBe(`2026-01-01 ${hour}:00:00`)
    await clock.advance(3_600_000)
  }
  expect((await ask('GetJob', { name: 'report' })).json).toMatchObject({ jobID: 1, lastRun: '2026-01-01 02:00:00' })
})

test('a client is told when a worker over HTTP last ran its job', async () => {
  const { ask, clock, backend } = await served({ at: Date.UTC(2026, 0, 1) })
  const { client } = await servingHttp({ on: { backend, clock } })
  await ask('CreateJob', { name: 'report', repeat: 'FINISHED, +1 HOUR' })
  const [lease] = await client.leases.take({ jobs: ['report'] })
  await client.leases.settle(lease?.id ?? '', { token: lease?.token ?? '', outcome: 'done' })
  await clock.advance(3_600_000)
  expect((await ask('GetJob', { name: 'report' })).json).toMatchObject({ jobID: 1, lastRun: '2026-01-01 00:00:00' })
})

test('what is changed while a worker of the program runs a job that repeats holds for its next run', async () => {
  const { jobs, ask } = await served({ at: Date.UTC(2026, 0, 1), program: { signingKey: 'a key for this test alone' } })
  jobs.define('report', async () => {
    await ask('UpdateJob', { jobID: 1, data: { round: 1 }, repeat: 'FINISHED, +1 DAY', jobPriority: 850 })
  })
  await ask('CreateJob', { name: 'report', repeat: 'FINISHED, +1 HOUR', data: { round: 0 } })
  await jobs.run()
  expect((await ask('QueryJob', { jobID: 1 })).json).toMatchObject({
    state: 'QUEUED',
    nextRun: '2026-01-02 00:00:00',
    data: { round: 1 },
    priority: 850,
  })
})

test('a job whose repeat is taken away while a worker of the program runs it ends', async () => {
  const { jobs, ask, backend } = await served()
  jobs.define('report', async () => {
    await ask('UpdateJob', { jobID: 1, data: {}, shouldClearRepeat: 1 })
  })
  await ask('CreateJob', { name: 'report', repeat: 'FINISHED, +1 HOUR' })
  await jobs.run()
  const [id] = await backend.store.numbers!.find([1])
  expect(await backend.store.get(id as string)).toMatchObject({ state: 'succeeded', repeat: null })
})

describe('a repeat that leads out of the years', () => {
  const farAway = `FINISHED${', +999 YEARS'.repeat(9)}`

  test('is refused where a job is made or changed', async () => {
    const { status } = await served()
    expect(await status('CreateJob', { name: 'a', repeat: farAway })).toBe('402 Malformed repeat')
    await status('CreateJob', { name: 'a' })
    expect(await status('UpdateJob', { jobID: 1, data: {}, repeat: farAway })).toBe('402 Malformed repeat')
    await status('GetJob', { name: 'a' })
    expect(await status('UpdateJob', { jobID: 1, data: {}, repeat: farAway })).toBe('402 Malformed repeat')
    expect(await status('FinishJob', { jobID: 1 })).toBe('200 OK')
  })

  /** One that led to a time when it was made. */
  const late = { firstRun: '9999-12-31', repeat: 'SCHEDULED, +2 DAYS' }

  test('ends the job that a client finishes', async () => {
    const { status, clock, log } = await served({ at: Date.UTC(9999, 11, 29) })
    await status('CreateJob', { name: 'a', ...late })
    await clock.advance(2 * 86_400_000)
    await status('GetJob', { name: 'a' })
    expect(await status('FinishJob', { jobID: 1 })).toBe('200 OK')
    expect(await status('QueryJob', { jobID: 1 })).toBe('404 No job with this jobID')
    expect(log).toContainEqual(
      expect.stringMatching(/^warn "a" .* does not repeat, because its repeat .* leads out of the years/),
    )
  })

  test('ends the job that a worker of the program has done', async () => {
    const { jobs, status, clock, log, backend } = await served({ at: Date.UTC(9999, 11, 29) })
    jobs.define('a', async () => 'done')
    await status('CreateJob', { name: 'a', ...late })
    await clock.advance(2 * 86_400_000)
    await jobs.run()
    const [id] = await backend.store.numbers!.find([1])
    expect(await backend.store.get(id as string)).toMatchObject({ state: 'succeeded', result: '"done"' })
    expect(log).toContainEqual(expect.stringMatching(/^warn "a" .* does not repeat/))
  })
})

test('a job that repeats has all its attempts again after a run that took several', async () => {
  const { jobs, ask, clock } = await served()
  let runs = 0
  jobs
    .define('shaky', async () => {
      if (++runs % 2 === 1) throw new Error('not yet')
    })
    .retries(1)
  await ask('CreateJob', { name: 'shaky', repeat: 'FINISHED, +1 DAY' })
  for (let round = 1; round <= 3; round++) {
    await jobs.run()
    await clock.advance(3_600_000)
    await jobs.run()
    expect([round, (await ask('QueryJob', { jobID: 1 })).json.state]).toEqual([round, 'QUEUED'])
    await clock.advance(2 * 86_400_000)
  }
  expect(runs).toBe(6)
})

test('the options of a definition hold for what comes over the wire, too', async () => {
  const { jobs, ask, backend } = await served()
  jobs
    .define('slow', async () => {})
    .queue('night')
    .retries(4)
    .timeout('30s')
    .concurrency(1)
  for (let count = 0; count < 2; count++) await ask('CreateJob', { name: 'slow' })
  const [id] = await backend.store.numbers!.find([1])
  expect(await backend.store.get(id as string)).toMatchObject({ queue: 'night', maxRetries: 4, timeoutMs: 30_000 })
  expect((await ask('GetJob', { name: 'slow' })).status).toBe('200 OK')
  expect((await ask('GetJob', { name: 'slow' })).status).toBe('404 No job found')
})

test('what was done under its idempotency key is not handed out again, and finishing a job is doing it', async () => {
  const { jobs, ask, record } = await served()
  const charge = jobs.define('charge', async (_: { order: number }) => {}).idempotencyKey(({ order }) => `order ${order}`)
  await charge.dispatch({ order: 1 })
  const second = await charge.dispatch({ order: 1 })
  const { json } = await ask('GetJob', { name: 'charge' })
  await ask('FinishJob', { jobID: json.jobID })
  expect((await ask('GetJob', { name: 'charge' })).status).toBe('404 No job found')
  expect((await record(second)).state).toBe('skipped')
})

test.each(['FinishJob', 'FailJob'])('%s of a run of a schedule skips those that fell due while it ran', async (verb) => {
  const { jobs, ask, clock, backend } = await served()
  jobs.declare('tick').cron('* * * * *')
  jobs.define('other', async () => {})
  await jobs.run()
  await clock.advance(60_000)
  await jobs.run()
  const { json } = await ask('GetJob', { name: 'tick' })
  await clock.advance(61_000)
  await jobs.run()
  expect(await ask(verb, { jobID: json.jobID })).toMatchObject({ status: '200 OK' })
  expect(await backend.store.list({ job: 'tick', state: 'ready', limit: 10 })).toEqual([])
})

test('a queue that admits only some jobs hands out no others', async () => {
  const { jobs, ask, record } = await served({ program: { allow: { default: ['mail'] } } })
  const other = jobs.define('other', async () => {})
  const run = await other.dispatch()
  expect((await ask('GetJob', { name: '*' })).status).toBe('404 No job found')
  expect(await record(run)).toMatchObject({ state: 'dead', reason: 'rejected' })
})
