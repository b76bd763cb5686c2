import { describe, expect, test } from 'vitest'
import { isolatingProgram } from './isolating-program.ts'
import { defineJobs } from './modules/isolated-jobs.mjs'

describe.each(['thread', 'process'] as const)('in a %s', (kind) => {
  test('A7: a handler has the same context', async () => {
    const { jobs, log, record } = isolatingProgram()
    const shows = defineJobs(jobs, kind)
      .shows!.named('Shows all')
      .queue('mail')
      .retries(2, { jitter: 'none' })
      .meta({ team: 'a' })
    const run = await shows.dispatch({ to: ['ada'] })
    await jobs.run()
    const stored = await record(run)
    expect(JSON.parse(stored.result as string)).toEqual({
      payload: { to: ['ada'] },
      samePayload: true,
      id: run.id,
      job: `${kind} shows`,
      name: 'Shows all',
      queue: 'mail',
      attempt: 1,
      maxAttempts: 3,
      meta: { team: 'a' },
      occurrence: null,
      isHeld: true,
    })
    expect(stored.progress).toBe('{"half":"done"}')
    expect(log).toEqual([`info [Shows all ${run.id}] seen`])
  })

  test('a call that the worker refuses is refused there with the same words', async () => {
    const { jobs, record } = isolatingProgram()
    const { reports } = defineJobs(jobs, kind)
    const run = await reports!.dispatch()
    await jobs.run()
    const message = `The progress of "${kind} reports" is not JSON: it is a function`
    expect(JSON.parse((await record(run)).result as string)).toEqual({ code: 'PAYLOAD_NOT_JSON', message })
  })

  test('a handler may snooze', async () => {
    const { jobs, record } = isolatingProgram()
    const run = await defineJobs(jobs, kind).snoozes!.dispatch()
    expect(await jobs.run()).toMatchObject({ snoozed: 1 })
    expect(await record(run)).toMatchObject({ state: 'scheduled', attempts: 0 })
  })

  test('a handler that catches its own snooze is snoozed all the same', async () => {
    const { jobs, log, record } = isolatingProgram()
    const { snoozesQuietly } = defineJobs(jobs, kind)
    const runs = [await snoozesQuietly!.dispatch('returns'), await snoozesQuietly!.dispatch('throws')]
    expect(await jobs.run({ concurrency: 1 })).toMatchObject({ snoozed: 2, succeeded: 0, dead: 0 })
    for (const run of runs) expect(await record(run)).toMatchObject({ state: 'scheduled', attempts: 0 })
    expect(log).toEqual([expect.stringContaining('the run ended with ctx.snooze(), and the handler then threw: could not poll')])
  })

  test('a handler may have children, and wait for them', async () => {
    const { jobs, record } = isolatingProgram()
    const run = await defineJobs(jobs, kind).sums!.dispatch()
    expect(await jobs.run()).toMatchObject({ waiting: 1, succeeded: 2 })
    const stored = await record(run)
    expect([stored.attempts, JSON.parse(stored.result as string)]).toEqual([1, { isSame: true, hasMethods: true, result: 8 }])
  })

  test('what a handler throws comes over as what it is', async () => {
    const { jobs, record } = isolatingProgram()
    const seen: unknown[] = []
    const { fails, failsForGood, throwsValue } = defineJobs(jobs, kind)
    // Without chance: a delay of next to nothing would let it fail again in the same pass.
    const later = { strategy: 'fixed', base: '1h', jitter: 'none' } as const
    for (const job of [fails!, failsForGood!, throwsValue!]) job.retries(5, later).onError((error) => seen.push(error))
    const runs = [await fails!.dispatch(), await failsForGood!.dispatch(), await throwsValue!.dispatch()]
    await jobs.run({ concurrency: 1 })
    expect(seen).toEqual([
      expect.objectContaining({ name: 'RangeError', message: 'out of range', code: 'E_RANGE' }),
      expect.objectContaining({ name: 'PermanentError', message: 'never' }),
      { no: 'error' },
    ])
    expect(seen[0]).toMatchObject({
      cause: { message: 'the disk is full' },
      stack: expect.stringContaining('isolated-jobs.mjs:'),
    })
    expect(seen[1]).toMatchObject({ cause: { name: 'TypeError', message: 'wrong kind' } })
    const records = await Promise.all(runs.map(record))
    expect(records.map(({ state, reason }) => ({ state, reason }))).toEqual([
      { state: 'scheduled', reason: null },
      { state: 'dead', reason: 'permanent' },
      { state: 'scheduled', reason: null },
    ])
    expect(records[0]?.errors).toMatchObject([{ message: 'out of range: the disk is full', code: 'E_RANGE' }])
  })

  test('the result is stored as it would be from the worker itself', async () => {
    const { jobs, log, record } = isolatingProgram()
    const { returns } = defineJobs(jobs, kind)
    const whats = ['nothing', 'date', 'url', 'proxy', 'function', 'map', 'circle']
    const runs = await returns!.dispatchMany(whats)
    await jobs.run({ concurrency: 1 })
    const records = await Promise.all(runs.map(record))
    expect(records.map(({ state }) => state)).toEqual(whats.map(() => 'succeeded'))
    expect(records.map(({ result }) => result)).toEqual([
      null,
      '{"at":"1970-01-01T00:00:00.000Z"}',
      '{"at":"http://127.0.0.1/"}',
      '{"behind":"a proxy"}',
      null,
      null,
      null,
    ])
    expect(log).toEqual([
      expect.stringContaining(`The result of "${kind} returns" is not JSON: "call" is a function; it is not stored`),
      expect.stringContaining(`The result of "${kind} returns" is not JSON: "all" is a Map; it is not stored`),
      expect.stringContaining('nested deeper than 100 levels; it is not stored'),
    ])
  })

  test('schemas, filters and hooks stay in the worker', async () => {
    const { jobs, record } = isolatingProgram()
    const seen: unknown[] = []
    const job = defineJobs(jobs, kind)
      .where!.when(() => seen.push(`when ${process.pid}`) > 0)
      .before(() => seen.push(`before ${process.pid}`))
      .onSuccess((result) => seen.push(result))
      .finally(() => seen.push(`finally ${process.pid}`))
    const run = await job.dispatch()
    await jobs.run()
    const there = JSON.parse((await record(run)).result as string)
    expect(seen).toEqual([`when ${process.pid}`, `before ${process.pid}`, there, `finally ${process.pid}`])
  })

  test('a payload that cannot be copied fails the attempt', async () => {
    const { jobs, record } = isolatingProgram()
    const from = new URL('./modules/isolated-jobs.mjs', import.meta.url)
    const input = {
      '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value: { value, call: () => {} } }) },
    } as const
    const run = await jobs
      .define(`${kind} where`, { input }, () => {})
      .isolate(kind, { from })
      .dispatch(1)
    await jobs.run()
    expect((await record(run)).errors).toMatchObject([
      { code: 'PAYLOAD_INVALID', message: expect.stringContaining(`cannot be copied into its ${kind}`) },
    ])
  })
})
