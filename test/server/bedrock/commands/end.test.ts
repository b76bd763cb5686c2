import { describe, expect, test } from 'vitest'
import { type Served, served } from '../served.ts'

async function running(headers: Readonly<Record<string, unknown>> = {}, options = {}): Promise<Served> {
  const server = await served(options)
  await server.ask('CreateJob', { name: 'a', ...headers })
  await server.ask('GetJob', { name: 'a', mockRequest: true })
  return server
}

describe.each(['FinishJob', 'RetryJob', 'FailJob', 'CancelJob', 'DeleteJob', 'QueryJob'])('%s', (verb) => {
  test.each([
    [{}, '402 Missing jobID'],
    [{ jobID: '' }, '402 Missing jobID'],
    [{ jobID: 'abc' }, '402 Malformed jobID'],
    [{ jobID: '1.0' }, '402 Malformed jobID'],
    [{ jobID: '01' }, '402 Malformed jobID'],
    [{ jobID: '12345678901234567890' }, '402 Malformed jobID'],
    [{ jobID: '0' }, '404 No job with this jobID'],
    [{ jobID: '-1' }, '404 No job with this jobID'],
    [{ jobID: '99' }, '404 No job with this jobID'],
    [{ jobID: '9007199254740993' }, '404 No job with this jobID'],
  ])('of %j is answered with %s', async (headers, status) => {
    expect(await (await served()).status(verb, headers)).toBe(status)
  })
})

describe('FinishJob', () => {
  test('ends a job that is done once, which nobody knows any more', async () => {
    const { ask, backend } = await running()
    expect((await ask('FinishJob', { jobID: 1, data: { all: 'good' } })).status).toBe('200 OK')
    expect((await ask('QueryJob', { jobID: 1 })).status).toBe('404 No job with this jobID')
    expect((await ask('FinishJob', { jobID: 1 })).status).toBe('404 No job with this jobID')
    const [id] = await backend.store.numbers!.find([1])
    expect(await backend.store.get(id as string)).toMatchObject({ state: 'succeeded', result: '{"all":"good"}' })
  })

  test('refuses a job that nobody has', async () => {
    const { ask } = await served()
    await ask('CreateJob', { name: 'a' })
    expect((await ask('FinishJob', { jobID: 1 })).status).toBe('405 Can only retry/finish RUNNING and RUNQUEUED jobs')
  })

  test('refuses data that is no JSON, and changes nothing', async () => {
    const { ask } = await running({ data: { a: 1 } })
    expect((await ask('FinishJob', { jobID: 1, data: 'x' })).status).toBe('502 Failed to update job retryAfterCount')
    expect((await ask('QueryJob', { jobID: 1 })).json).toMatchObject({ state: 'RUNNING', data: { a: 1 } })
  })

  test('brings a job back that repeats, with the data that it was finished with', async () => {
    const { ask, clock } = await running({ repeat: 'finished, +1 hour' }, { at: Date.UTC(2026, 0, 1) })
    await clock.advance(10_000)
    await ask('FinishJob', { jobID: 1, data: { round: 2 } })
    expect((await ask('QueryJob', { jobID: 1 })).json).toMatchObject({
      state: 'QUEUED',
      data: { round: 2 },
      nextRun: '2026-01-01 01:00:10',
      lastRun: '2026-01-01 00:00:00',
      created: '2026-01-01 00:00:00',
    })
    await clock.advance(3_600_000)
    expect((await ask('GetJob', { name: '*' })).json).toMatchObject({ jobID: 1, lastRun: '2026-01-01 00:00:00' })
  })

  test.each([
    ['SCHEDULED, +1 HOUR', '2026-01-01 14:00:00'],
    ['STARTED, +1 HOUR', '2026-01-01 14:15:00'],
    ['FINISHED, +1 HOUR', '2026-01-01 14:45:00'],
    ['HOURLY', '2026-01-01 14:45:00'],
    ['DAILY', '2026-01-02 13:45:00'],
    ['WEEKLY', '2026-01-08 13:45:00'],
    ['FINISHED, +1 DAY, START OF DAY, +4 HOURS', '2026-01-02 04:00:00'],
    ['FINISHED, +1 DAY, WEEKDAY 1, START OF DAY, +6 HOURS', '2026-01-05 06:00:00'],
  ])('%s: scheduled at 13:00, started at 13:15 and done at 13:45, it runs next at %s (R12-R14)', async (repeat, next) => {
    const { ask, clock } = await served({ at: Date.UTC(2026, 0, 1, 12) })
    await ask('CreateJob', { name: 'a', repeat, firstRun: '2026-01-01 13:00:00' })
    await clock.advance(75 * 60_000)
    await ask('GetJob', { name: 'a' })
    await clock.advance(30 * 60_000)
    await ask('FinishJob', { jobID: 1 })
    expect((await ask('QueryJob', { jobID: 1 })).json.nextRun).toBe(next)
  })

  test('a SCHEDULED repeat catches up run after run, as far as it may (R15)', async () => {
    const { ask, clock } = await served({ at: Date.UTC(2026, 0, 1), catchUp: { cap: 3 } })
    await ask('CreateJob', { name: 'a', repeat: 'SCHEDULED, +1 HOUR' })
    await clock.advance(10 * 3_600_000 + 60_000)
    const times: string[] = []
    for (let run = 0; run < 5; run++) {
      const { status, json } = await ask('GetJob', { name: 'a' })
      if (status !== '200 OK') break
      times.push(json.nextRun)
      await ask('FinishJob', { jobID: 1 })
    }
    expect(times.map((time) => time.slice(11, 16))).toEqual(['00:00', '08:00', '09:00', '10:00'])
  })

  test.each([{ ignoreRepeat: true }, { ignoreRepeat: 1 }, { data: { delete: true } }])('%j ends a repeat', async (headers) => {
    const { ask } = await running({ repeat: 'FINISHED, +1 HOUR' })
    await ask('FinishJob', { jobID: 1, ...headers })
    expect((await ask('QueryJob', { jobID: 1 })).status).toBe('404 No job with this jobID')
  })

  test('goes by a repeat that was given while the job ran', async () => {
    const { ask } = await running()
    await ask('UpdateJob', { jobID: 1, data: {}, repeat: 'FINISHED, +1 HOUR' })
    await ask('UpdateJob', { jobID: 1, data: '{"a":1}', repeat: 'FINISHED, +1 HOUR' })
    await ask('FinishJob', { jobID: 1 })
    expect((await ask('QueryJob', { jobID: 1 })).json).toMatchObject({ state: 'QUEUED', data: { a: 1 } })
  })

  test('finds its job again after the server was started anew', async () => {
    const { stop, restart } = await running()
    await stop()
    const { ask } = await restart()
    expect((await ask('FinishJob', { jobID: 1 })).status).toBe('200 OK')
  })

  test('a worker that was too slow cannot end the job that somebody else has by now', async () => {
    const { ask, clock } = await running({}, { lease: '10s' })
    await clock.advance(11_000)
    await ask('GetJob', { name: 'nothing' })
    expect((await ask('FinishJob', { jobID: 1 })).status).toBe('405 Can only retry/finish RUNNING and RUNQUEUED jobs')
    expect((await ask('GetJob', { name: 'a' })).json.jobID).toBe(1)
  })
})

describe('RetryJob', () => {
  test.each([
    [{}, '2026-01-01 00:00:00'],
    [{ delay: 90 }, '2026-01-01 00:01:30'],
    [{ delay: '+7.9 s' }, '2026-01-01 00:00:07'],
    [{ delay: 'soon' }, '2026-01-01 00:00:00'],
    [{ nextRun: '2026-02-01 10:00:00' }, '2026-02-01 10:00:00'],
    [{ nextRun: '2026-02-01 10:00:00', delay: 5 }, '2026-02-01 10:00:00'],
  ])('with %j runs next at %s', async (headers, nextRun) => {
    const { ask } = await running({}, { at: Date.UTC(2026, 0, 1) })
    await ask('RetryJob', { jobID: 1, ...headers })
    expect((await ask('QueryJob', { jobID: 1 })).json).toMatchObject({ state: 'QUEUED', nextRun })
  })

  test('is refused for a job that must not be begun twice', async () => {
    const { ask, status, jobs, backend } = await served()
    jobs.declare('once').delivery('at-most-once')
    await ask('CreateJob', { name: 'once' })
    await ask('GetJob', { name: 'once' })
    expect(await status('RetryJob', { jobID: 1 })).toBe('405 The job is delivered at most once: it cannot be tried again')
    expect(await status('FinishJob', { jobID: 1 })).toBe('200 OK')
    expect((await backend.store.counts())[0]?.counts).toMatchObject({ succeeded: 1, ready: 0 })
  })

  test('goes by the repeat first, unless that is to be ignored', async () => {
    const { ask } = await running({ repeat: 'FINISHED, +1 HOUR' }, { at: Date.UTC(2026, 0, 1) })
    await ask('RetryJob', { jobID: 1, delay: 5 })
    expect((await ask('QueryJob', { jobID: 1 })).json.nextRun).toBe('2026-01-01 01:00:00')
    const other = await running({ repeat: 'FINISHED, +1 HOUR' }, { at: Date.UTC(2026, 0, 1) })
    await other.ask('RetryJob', { jobID: 1, delay: 5, ignoreRepeat: true })
    expect((await other.ask('QueryJob', { jobID: 1 })).json.nextRun).toBe('2026-01-01 00:00:05')
  })

  test('may give the job another name, priority and data', async () => {
    const { ask } = await running()
    await ask('RetryJob', { jobID: 1, name: 'b', jobPriority: 1000, data: { tried: 1 } })
    expect((await ask('GetJob', { name: 'a' })).status).toBe('404 No job found')
    expect((await ask('GetJob', { name: 'b' })).json).toMatchObject({ jobID: 1, priority: 1000, data: { tried: 1 } })
  })

  test.each([
    [{ delay: -1 }, '402 Must specify a non-negative delay when retrying'],
    [{ delay: 123_456_789 }, '402 Malformed delay'],
    [{ nextRun: 'soon' }, '402 Malformed nextRun'],
    [{ jobPriority: 3 }, '402 Invalid priority value'],
  ])('with %j is answered with %s', async (headers, status) => {
    const { ask } = await running()
    expect((await ask('RetryJob', { jobID: 1, ...headers })).status).toBe(status)
    expect((await ask('QueryJob', { jobID: 1 })).json.state).toBe('RUNNING')
  })
})

describe('FailJob', () => {
  test('leaves the job behind as failed, with its data and what it says of the reason', async () => {
    const { ask, backend } = await running()
    expect((await ask('FailJob', { jobID: 1, data: { error: 'no such user' } })).status).toBe('200 OK')
    expect((await ask('QueryJob', { jobID: 1 })).json).toMatchObject({ state: 'FAILED', data: { error: 'no such user' } })
    const [id] = await backend.store.numbers!.find([1])
    expect((await backend.store.get(id as string))?.errors[0]?.message).toBe('no such user')
    expect((await ask('FailJob', { jobID: 1 })).status).toBe('405 Can only fail RUNNING or RUNQUEUED jobs')
  })
})

describe('a job with a retryAfter', () => {
  test('is handed out again when nobody has finished it in time, and counts how often', async () => {
    const { ask, clock } = await served({ at: Date.UTC(2026, 0, 1) })
    await ask('CreateJob', { name: 'a', retryAfter: '+1 MINUTE' })
    expect((await ask('GetJob', { name: 'a' })).json.data).toEqual({})
    expect((await ask('QueryJob', { jobID: 1 })).json).toMatchObject({
      state: 'RUNQUEUED',
      nextRun: '2026-01-01 00:01:00',
      data: { retryAfterCount: 1 },
    })
    expect((await ask('GetJob', { name: 'a' })).status).toBe('404 No job found')
    await clock.advance(60_000)
    expect((await ask('GetJob', { name: 'a' })).json.data).toEqual({ retryAfterCount: 1 })
    await ask('FinishJob', { jobID: 1 })
    expect((await ask('QueryJob', { jobID: 1 })).status).toBe('404 No job with this jobID')
  })

  test('is failed in place of being handed out for an eleventh time', async () => {
    const { ask, clock } = await served({ maxRescues: 100 })
    await ask('CreateJob', { name: 'a', retryAfter: '+1 MINUTE' })
    for (let times = 0; times < 10; times++) {
      expect((await ask('GetJob', { name: 'a' })).json.jobID).toBe(1)
      await clock.advance(60_000)
    }
    expect((await ask('GetJob', { name: 'a' })).body).toBe('{}')
    expect((await ask('QueryJob', { jobID: 1 })).json.state).toBe('FAILED')
  })

  test.each([
    ['a slot that was missed', { retryAfter: '+10 MINUTES', repeat: 'SCHEDULED, +1 HOUR', firstRun: '2025-12-31 20:00:00' }],
    ['no time ahead', { retryAfter: 'START OF DAY' }],
    ['a time in the past', { retryAfter: '-5 MINUTES' }],
  ])('is held from when it was handed out, also where its next time is %s', async (_, job) => {
    const { ask, clock } = await served({ at: Date.UTC(2026, 0, 1, 0, 30) })
    await ask('CreateJob', { name: 'a', ...job })
    expect((await ask('GetJob', { name: 'a' })).status).toBe('200 OK')
    await clock.advance(9 * 60_000)
    expect((await ask('GetJob', { name: 'a' })).status).toBe('404 No job found')
    await clock.advance(60 * 60_000)
    expect((await ask('GetJob', { name: 'a' })).status).toBe('200 OK')
  })

  test('that people look after is not counted', async () => {
    const { ask } = await served()
    await ask('CreateJob', { name: 'manual/a', retryAfter: '+1 MINUTE' })
    await ask('GetJob', { name: 'manual/a' })
    expect((await ask('QueryJob', { jobID: 1 })).json.data).toEqual({})
  })

  test('and a SCHEDULED repeat goes on from when it was first to run', async () => {
    const { ask, clock } = await served({ at: Date.UTC(2026, 0, 1) })
    await ask('CreateJob', { name: 'a', retryAfter: '+10 MINUTES', repeat: 'SCHEDULED, +1 HOUR' })
    await ask('GetJob', { name: 'a' })
    await clock.advance(10 * 60_000)
    await ask('GetJob', { name: 'a' })
    await ask('FinishJob', { jobID: 1 })
    expect((await ask('QueryJob', { jobID: 1 })).json).toMatchObject({ nextRun: '2026-01-01 01:00:00', data: {} })
  })
})

describe('a job for tests', () => {
  test('is only given to those who ask for it, never repeats, and says what it is', async () => {
    const { ask } = await served()
    await ask('CreateJob', { name: 'a', mockRequest: false, repeat: 'FINISHED, +1 DAY', data: { x: 1 } })
    expect((await ask('GetJob', { name: '*' })).status).toBe('404 No job found')
    const { json } = await ask('GetJob', { name: '*', getMockedJobs: true })
    expect(json).toMatchObject({ name: 'a', repeat: '', data: { x: 1, mockRequest: true } })
  })

  test('is unique among its own kind', async () => {
    const { ask } = await served()
    await ask('CreateJob', { name: 'a' })
    expect((await ask('CreateJob', { name: 'a', unique: true, mockRequest: true })).json.jobID).toBe(2)
    expect((await ask('CreateJob', { name: 'a', unique: true })).json.jobID).toBe(1)
  })

  test('must be finished as what it is', async () => {
    const mocked = await running({ mockRequest: true })
    expect((await mocked.ask('FinishJob', { jobID: 1, data: {} })).status).toBe('500 Mock Mismatch')
    const real = await running()
    expect((await real.ask('FinishJob', { jobID: 1, data: { mockRequest: true } })).status).toBe('500 Mock Mismatch')
  })

  test('may be finished by anybody at any time', async () => {
    const { ask } = await served()
    await ask('CreateJob', { name: 'a', mockRequest: true })
    expect((await ask('FinishJob', { jobID: 1 })).status).toBe('200 OK')
    expect((await ask('QueryJob', { jobID: 1 })).status).toBe('404 No job with this jobID')
  })

  test('may be retried in any state, and waits then', async () => {
    const failed = await running({ mockRequest: true })
    await failed.ask('FailJob', { jobID: 1 })
    expect((await failed.ask('RetryJob', { jobID: 1, delay: 60 })).status).toBe('200 OK')
    const nextRun = '2026-01-01 00:01:00'
    expect((await failed.ask('QueryJob', { jobID: 1 })).json).toMatchObject({ state: 'QUEUED', nextRun })

    const parent = await running({ mockRequest: true })
    await parent.ask('CreateJob', { name: 'child', parentJobID: 1 })
    await parent.ask('FinishJob', { jobID: 1 })
    expect((await parent.ask('QueryJob', { jobID: 1 })).json.state).toBe('PAUSED')
    await parent.ask('RetryJob', { jobID: 1 })
    expect((await parent.ask('QueryJob', { jobID: 1 })).json.state).toBe('QUEUED')
  })
})

describe('what a job is left with', () => {
  const program = { maxPayloadBytes: 1_000 }
  const large = { text: 'x'.repeat(1_000) }

  test.each(['FinishJob', 'RetryJob', 'FailJob', 'UpdateJob'])('%s refuses data that no job could be made with', async (verb) => {
    const { ask } = await running({ data: { a: 1 } }, { program })
    expect((await ask(verb, { jobID: 1, data: large })).status).toBe('402 Malformed data')
    expect((await ask('QueryJob', { jobID: 1 })).json).toMatchObject({ state: 'RUNNING', data: { a: 1 } })
  })

  test.each(['FinishJob', 'RetryJob', 'FailJob', 'UpdateJob'])('%s refuses data that is nested too deep', async (verb) => {
    const { ask } = await running({ data: { a: 1 } })
    for (const depth of [101, 200_000]) {
      const data = `${'['.repeat(depth)}${']'.repeat(depth)}`
      expect((await ask(verb, { jobID: 1, data })).status).toBe('402 Malformed data')
    }
    expect((await ask('QueryJob', { jobID: 1 })).json).toMatchObject({ state: 'RUNNING', data: { a: 1 } })
  })

  test.each(['x'.repeat(256), 'é'.repeat(192), 'a\u0001b', 'mock~a'])(
    'a name that no job could be made with is refused (%#)',
    async (name) => {
      const { ask } = await running()
      expect((await ask('CreateJob', { name })).status).toBe('402 Malformed name')
      expect((await ask('RetryJob', { jobID: 1, name })).status).toBe('402 Malformed name')
      expect((await ask('RequeueJobs', { jobIDs: 1, name })).status).toBe('402 Malformed name')
      expect((await ask('QueryJob', { jobID: 1 })).json).toMatchObject({ state: 'RUNNING', name: 'a' })
    },
  )
})
