import { describe, expect, it } from 'vitest'
import { world } from '../world.ts'

describe('hooks', () => {
  it('J22: are called in their order around a run that succeeds, all with the payload', async () => {
    const { jobs } = world()
    const called: string[] = []
    const job = jobs
      .define('mail', async (to: string) => {
        called.push(`handler ${to}`)
        return 7
      })
      .finally((to) => called.push(`finally ${to}`))
      .onError(() => called.push('onError'))
      .onSuccess((result, to) => called.push(`onSuccess ${result} ${to}`))
      .before((to) => called.push(`before ${to}`))
      .before(async (to) => called.push(`second before ${to}`))
      .skip(() => called.push('skip') < 0)
      .when(() => called.push('when') > 0)
    await job.dispatch('ada')
    await jobs.run()
    expect(called).toEqual(['when', 'skip', 'before ada', 'second before ada', 'handler ada', 'onSuccess 7 ada', 'finally ada'])
  })

  it('J22: are called in their order around a run that fails', async () => {
    const { jobs } = world()
    const called: string[] = []
    const job = jobs
      .define('mail', async (_: string) => {
        throw new Error('bounced')
      })
      .before((to) => called.push(`before ${to}`))
      .onSuccess(() => called.push('onSuccess'))
      .onError((error, to) => called.push(`onError ${(error as Error).message} ${to}`))
      .finally((to) => called.push(`finally ${to}`))
    await job.dispatch('ada')
    await jobs.run()
    expect(called).toEqual(['before ada', 'onError bounced ada', 'finally ada'])
  })

  it('J22: are called for each attempt', async () => {
    const { jobs, clock } = world()
    const called: string[] = []
    const job = jobs
      .define('mail', async (_: string, { attempt }) => {
        if (attempt < 3) throw new Error('bounced')
      })
      .retries(5, { strategy: 'fixed', base: '1s', jitter: 'none' })
      .onError((_, __, { attempt }) => called.push(`onError ${attempt}`))
      .onSuccess((_, __, { attempt }) => called.push(`onSuccess ${attempt}`))
      .finally((_, { attempt }) => called.push(`finally ${attempt}`))
    await job.dispatch('ada')
    for (let pass = 0; pass < 3; pass++) {
      await jobs.run()
      await clock.advance(1_000)
    }
    expect(called).toEqual(['onError 1', 'finally 1', 'onError 2', 'finally 2', 'onSuccess 3', 'finally 3'])
  })

  it('that throw before the handler fail the attempt, and the handler is not called', async () => {
    const { jobs, record } = world()
    const called: string[] = []
    const job = jobs
      .define('mail', async () => called.push('handler'))
      .before(() => {
        throw new Error('no connection')
      })
      .before(() => called.push('second before'))
      .onError(() => called.push('onError'))
      .finally(() => called.push('finally'))
    const run = await job.dispatch()
    await jobs.run()
    expect(called).toEqual(['onError', 'finally'])
    expect(await record(run)).toMatchObject({ state: 'dead', errors: [{ message: 'no connection', attempt: 1 }] })
  })

  it('that throw after the handler are logged, and change nothing', async () => {
    const { jobs, record, log } = world()
    const boom = (what: string) => () => {
      throw new Error(what)
    }
    const called: string[] = []
    const sound = jobs
      .define('sound', async () => 'sent')
      .onSuccess(boom('from onSuccess'))
      .onSuccess(() => called.push('next'))
      .finally(async () => boom('from finally')())
    const broken = jobs.define('broken', boom('from the handler')).onError(boom('from onError'))
    const [one, two] = [await sound.dispatch(), await broken.dispatch()]
    await jobs.run()
    expect(await record(one)).toMatchObject({ state: 'succeeded', result: '"sent"' })
    expect(await record(two)).toMatchObject({ state: 'dead', errors: [{ message: 'from the handler' }] })
    expect(called).toEqual(['next'])
    expect(log.toSorted()).toEqual([
      `error [broken ${two.id}] a hook failed: from onError`,
      `error [sound ${one.id}] a hook failed: from finally`,
      `error [sound ${one.id}] a hook failed: from onSuccess`,
    ])
  })
})

describe('filters', () => {
  it('J21, X24: end a run as skipped, without an attempt and without any hook', async () => {
    const { jobs, record, happened } = world()
    const called: string[] = []
    const job = jobs
      .define('mail', async (_: { urgent: boolean }) => called.push('handler'))
      .when(({ urgent }) => urgent)
      .before(() => called.push('before'))
      .onError(() => called.push('onError'))
      .finally(() => called.push('finally'))
    const run = await job.dispatch({ urgent: false })
    expect(await jobs.run()).toMatchObject({ skipped: 1, succeeded: 0, dead: 0 })
    expect(called).toEqual([])
    expect(await record(run)).toMatchObject({
      state: 'skipped',
      attempts: 0,
      reason: 'a when() filter returned false',
      errors: [],
    })
    expect(happened).toEqual([
      { name: 'job:skipped', event: expect.objectContaining({ id: run.id, why: 'a when() filter returned false' }) },
    ])
  })

  it('J21: let a job run only if all of when and none of skip say so', async () => {
    const { jobs, record } = world()
    const job = jobs
      .define('mail', async (_: readonly boolean[]) => {})
      .when(([first]) => first === true)
      .when(async ([, second]) => second === true)
      .skip(([, , third]) => third === true)
      .skip(async ([, , , fourth]) => fourth === true)
    const payloads = [
      [true, true, false, false],
      [false, true, false, false],
      [true, false, false, false],
      [true, true, true, false],
      [true, true, false, true],
    ]
    const runs = await job.dispatchMany(payloads)
    await jobs.run()
    const states = await Promise.all(runs.map(async (run) => (await record(run)).state))
    expect(states).toEqual(['succeeded', 'skipped', 'skipped', 'skipped', 'skipped'])
  })

  it('are told about the run', async () => {
    const { jobs } = world()
    const seen: unknown[] = []
    const job = jobs
      .define('mail', async () => {})
      .named('Mail')
      .queue('slow')
      .meta({ tenant: 'acme' })
      .when((_, { id, job: key, name, queue, attempt, meta }) => seen.push({ id, key, name, queue, attempt, meta }) > 0)
    const run = await job.dispatch()
    await jobs.run()
    expect(seen).toEqual([{ id: run.id, key: 'mail', name: 'Mail', queue: 'slow', attempt: 1, meta: { tenant: 'acme' } }])
  })

  it('that throw fail the attempt, which is retried like any other', async () => {
    const { jobs, record, clock } = world()
    let asked = 0
    const job = jobs
      .define('mail', async () => {})
      .retries(1)
      .when(() => {
        if (asked++ === 0) throw new Error('no database')
        return true
      })
    const run = await job.dispatch()
    expect(await jobs.run()).toMatchObject({ retried: 1 })
    await clock.advance(1_000)
    await jobs.run()
    expect(await record(run)).toMatchObject({ state: 'succeeded', errors: [{ message: 'no database' }] })
  })
})
