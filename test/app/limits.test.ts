import { describe, expect, it } from 'vitest'
import { treadle } from '../../src/app/treadle.ts'
import { gate, world } from '../world.ts'

describe('groups', () => {
  it('come from the payload, from the definition or from the dispatch, and the handler is told (C.4 30)', async () => {
    const { jobs, record } = world()
    const seen: (string | null)[] = []
    const note = (_: unknown, { group }: { readonly group: string | null }) => void seen.push(group)
    const byTenant = jobs.define('by-tenant', (_: { tenant: string | null }, ctx) => note(_, ctx)).group(({ tenant }) => tenant)
    const fixed = jobs.define('fixed', note).group('house')
    const plain = jobs.define('plain', note)
    const runs = [
      await byTenant.dispatch({ tenant: 'ada' }),
      await byTenant.dispatch({ tenant: null }),
      await byTenant.dispatch({ tenant: 'ada' }, { group: 'bob' }),
      await byTenant.dispatch({ tenant: 'ada' }, { group: null }),
      await fixed.dispatch(1),
      await plain.dispatch(1, { group: 'cy' }),
    ]
    const groups = ['ada', null, 'bob', null, 'house', 'cy']
    expect(await Promise.all(runs.map(async (run) => (await record(run)).group))).toEqual(groups)
    await jobs.run()
    expect(seen.toSorted()).toEqual(groups.toSorted())
  })

  it('at their limit wait, and hold back neither others nor jobs without a group', async () => {
    const { jobs, clock } = world()
    const { open, opened } = gate()
    const running = new Map<string, number>()
    let most = 0
    const job = jobs
      .define('work', async ({ tenant }: { tenant: string }) => {
        running.set(tenant, (running.get(tenant) ?? 0) + 1)
        most = Math.max(most, running.get(tenant) as number)
        if (tenant === 'big') await opened
        running.set(tenant, (running.get(tenant) as number) - 1)
      })
      .group(({ tenant }) => tenant, { concurrency: 2 })
    await job.dispatchMany(Array.from({ length: 20 }, () => ({ tenant: 'big' })))
    const small = await job.dispatch({ tenant: 'small' })
    const nobodys = await job.dispatch({ tenant: 'none' }, { group: null })
    const working = jobs.work({ concurrency: 10, signals: false })
    await clock.advance(1_000)
    expect([await small.state(), await nobodys.state()]).toEqual(['succeeded', 'succeeded'])
    expect(running.get('big')).toBe(2)
    open()
    await clock.advance(1_000)
    expect(most).toBe(2)
    await jobs.stop()
    expect((await working).succeeded).toBe(22)
  })

  it('keep the slot of a run that goes on after its timeout', async () => {
    const { jobs, clock, names } = world()
    const { open, opened } = gate()
    let running = 0
    let most = 0
    const job = jobs
      .define('deaf', async () => {
        most = Math.max(most, ++running)
        await opened
        running--
      })
      .timeout('1s')
      .group('a', { concurrency: 1 })
    await job.dispatchMany([1, 2])
    const working = jobs.work({ signals: false })
    await clock.advance(20_000)
    expect(names()).toContain('job:overrun')
    expect(most).toBe(1)
    open()
    await clock.advance(20_000)
    expect(most).toBe(1)
    await jobs.stop()
    await working
  })
})

describe('rates', () => {
  it('start no more than they say in any span of their time, and the worker sleeps until the next (O4, X39)', async () => {
    const { jobs, clock } = world()
    const starts: number[] = []
    const job = jobs.define('call', () => void starts.push(clock.now())).rate(3, '10s')
    await job.dispatchMany(Array.from({ length: 10 }, (_, n) => n))
    const working = jobs.work({ signals: false, poll: '1m' })
    const start = clock.now()
    await clock.advance(35_000)
    expect(starts.map((at) => Math.round((at - start) / 1_000))).toEqual([0, 0, 0, 10, 10, 10, 20, 20, 20, 30])
    await jobs.stop()
    await working
  })

  it('end a pass that could only wait for tokens', async () => {
    const { jobs } = world()
    const job = jobs.define('call', () => {}).rate(2, '1h')
    await job.dispatchMany([1, 2, 3])
    expect((await jobs.run()).succeeded).toBe(2)
    expect((await jobs.run()).succeeded).toBe(0)
  })
})

describe('queues with limits', () => {
  it('run no more jobs at once than they may, over all workers and jobs', async () => {
    const queues = { mail: { concurrency: 2, rate: { limit: 3, per: '1m' } } }
    const first = world({ queues })
    const { open, opened } = gate()
    let running = 0
    let most = 0
    let started = 0
    const work = async () => {
      started++
      most = Math.max(most, ++running)
      await opened
      running--
    }
    const second = first.other({ queues })
    for (const { jobs } of [first, second]) for (const name of ['a', 'b']) jobs.define(name, work).queue('mail')
    for (const name of ['a', 'b', 'a', 'b']) await first.jobs.dispatch(name)
    const workings = [first, second].map(({ jobs }) => jobs.work({ signals: false }))
    await first.clock.advance(2_000)
    open()
    await first.clock.advance(10_000)
    expect([most, started]).toEqual([2, 3])
    await first.clock.advance(60_000)
    expect(started).toBe(4)
    await Promise.all([first, second].map(({ jobs }) => jobs.stop()))
    await Promise.all(workings)
  })
})

it('a priority that grows with waiting lets an old job go before a fresh one of a higher priority', async () => {
  const { jobs, clock } = world()
  const order: string[] = []
  const job = jobs.define('work', (name: string) => void order.push(name))
  await job.dispatch('old and low', { priority: 1 })
  await clock.advance(60_000)
  await job.dispatch('fresh and high', { priority: 9 })
  await jobs.run({ concurrency: 1, ageing: '5s', limit: 1 })
  expect(order).toEqual(['old and low'])
})

describe('limits that make no sense are refused with what is accepted', () => {
  const jobs = treadle('memory:')
  let defined = 0
  const define = () => jobs.define(`job-${defined++}`, () => {})

  it.each<[() => unknown, RegExp]>([
    [() => define().rate(0, '1s').toDefinition(), /limit of rate must be a whole number of at least 1, got 0/],
    [() => define().rate(1, 0).toDefinition(), /time of rate must be from 1ms to 366d/],
    [() => define().rate(1, 'soon' as never), /the time of rate/],
    [() => define().group('', {}), /group must be a string/],
    [() => define().group('a', { concurency: 1 } as never), /unknown option "concurency", did you mean "concurrency"/],
    [() => define().group('a', { concurrency: -1 }).toDefinition(), /group.concurrency must be a whole number/],
    [() => define().group('a', { rate: 5 as never }), /group.rate must be an object such as { limit: 100, per: '1m' }/],
    [
      () =>
        define()
          .group('a', { rate: { limit: 1.5, per: '1s' } })
          .toDefinition(),
      /limit of group.rate/,
    ],
    [() => treadle('memory:', { queues: [] as never }).open(), /queues must be an object/],
    [() => treadle('memory:', { queues: { 'a b': {} } }).open(), /a queue must be/],
    [
      () => treadle('memory:', { queues: { mail: { concurency: 1 } as never } }).open(),
      /queues.mail: unknown option "concurency"/,
    ],
    [() => treadle('memory:', { queues: { mail: { concurrency: 0 } } }).open(), /queues.mail.concurrency must be/],
    [() => treadle('memory:', { queues: { mail: { rate: { limit: 1, per: 'x' as never } } } }).open(), /queues.mail.rate/],
    [() => jobs.dispatch('job-0', 1, { group: '' }), /group must be a string of 1 to 512/],
    [() => jobs.work({ ageing: '0s' }), /ageing must be from 1ms to 31d/],
  ])('%s', async (attempt, message) => {
    define()
    await expect(async () => attempt()).rejects.toThrow(message)
  })
})
