import { describe, expect, expectTypeOf, it } from 'vitest'
import { JobDefinition } from '../../src/definition/definition.ts'
import { drain } from '../../src/testing/drain.ts'
import { gate, until, world } from '../world.ts'

const failing = () => {
  throw new Error('it broke')
}

describe('a dispatch that depends on others (X6, D8)', () => {
  it('runs when they have succeeded, and is given their results in order', async () => {
    const { jobs } = world()
    const order: string[] = []
    const load = jobs.define('load', (name: string) => {
      order.push(name)
      return { name }
    })
    const report = jobs.define('report', async (_: unknown, ctx) =>
      (await ctx.dependencies()).map(({ state, result }) => [state, result]),
    )
    const [a, b] = [await load.dispatch('a', { delay: '1m' }), await load.dispatch('b')]
    const run = await report.dispatch(null, { dependsOn: [a, b.id] })
    expect(await run.state()).toBe('blocked')
    await jobs.run()
    expect([order, await run.state()]).toEqual([['b'], 'blocked'])
    await a.reschedule(new Date(0))
    await jobs.run()
    expect(await run.result()).toEqual([
      ['succeeded', { name: 'a' }],
      ['succeeded', { name: 'b' }],
    ])
  })

  it('says what becomes of it when one of them fails', async () => {
    const { jobs, record } = world()
    const bad = jobs.define('bad', failing)
    const next = jobs.define('next', async (_: unknown, ctx) => (await ctx.dependencies())[0])
    const first = await bad.dispatch()
    const dead = await next.dispatch(null, { dependsOn: first })
    const skipped = await next.dispatch(null, { dependsOn: first, onDependencyFailure: 'skip' })
    const ran = await next.dispatch(null, { dependsOn: first, onDependencyFailure: 'ignore' })
    await jobs.run()
    expect([(await record(dead)).state, (await record(skipped)).state]).toEqual(['dead', 'skipped'])
    await expect(dead.result()).rejects.toThrow(`"bad" (${first.id}) that it waited for is dead: it broke`)
    expect(await ran.result()).toEqual({ id: first.id, job: 'bad', state: 'dead', error: 'it broke' })
  })

  it('does not wait for longer than it is told', async () => {
    const { jobs, clock } = world()
    const idle = jobs.define('idle', () => 1)
    const patient = jobs.define('patient', () => 2).waitAtMost('2h')
    const first = await idle.delay('1d').dispatch()
    const [two, one] = [
      await patient.dispatch(null, { dependsOn: first }),
      await patient.dispatch(null, { dependsOn: first, waitAtMost: '1h' }),
    ]
    await clock.advance(3_600_000)
    await jobs.run()
    expect([await one.state(), await two.state()]).toEqual(['dead', 'blocked'])
    await expect(one.result()).rejects.toThrow('longer than 1h for "idle"')
    await clock.advance(3_600_000)
    await jobs.run()
    expect(await two.state()).toBe('dead')
  })

  it('refuses what it cannot understand', async () => {
    const { jobs } = world()
    const next = jobs.define('next', () => {})
    await expect(next.dispatch(null, { dependsOn: [7 as never] })).rejects.toThrow('dependsOn takes the handle or the id')
    await expect(next.dispatch(null, { dependsOn: 'x', onDependencyFailure: 'run' as never })).rejects.toThrow(
      'fail, skip, ignore, continue',
    )
    await expect(next.dispatch(null, { onDependencyFailure: 'skip' })).rejects.toThrow('without dependsOn')
    await expect(next.dispatch(null, { dependsOn: 'x', waitAtMost: 'long' })).rejects.toThrow('waitAtMost must be')
    await expect(next.dispatch(null, { dependsOn: 'x', waitAtMost: 0 })).rejects.toThrow('waitAtMost must be more than 0 ms')
    expect(() => jobs.define('other', () => {}).waitAtMost(0)).toThrow('waitAtMost must be more than 0 ms')
  })
})

describe('a job with children', () => {
  it('ends with the last of them, and its own result', async () => {
    const { jobs, names } = world()
    const resize = jobs.define('resize', (size: number) => size * 2)
    const parent = jobs.define('parent', async (_: unknown, ctx) => {
      const runs = await Promise.all([1, 2, 3].map((size) => ctx.dispatchChild(resize, size)))
      expectTypeOf(runs[0]).toExtend<{ result(): Promise<number> } | undefined>()
      return runs.length
    })
    const run = await parent.dispatch()
    const report = await jobs.run()
    expect(await run.result()).toBe(3)
    expect(report).toMatchObject({ waiting: 1, succeeded: 3 })
    expect(names().filter((name) => name === 'job:waiting')).toHaveLength(1)
    expect(await run.tree()).toMatchObject({ total: 4, done: 1, counts: { succeeded: 4 } })
  })

  it('are waited for also where the handler catches what ctx.children() leaves by', async () => {
    const { jobs } = world()
    jobs.define('child', () => 7)
    const parent = jobs.define('parent', async (_: unknown, ctx) => {
      await ctx.dispatchChild('child', null)
      try {
        return (await ctx.children()).map(({ result }) => result)
      } catch {
        return 'without its children'
      }
    })
    const run = await parent.dispatch()
    expect(await jobs.run()).toMatchObject({ waiting: 1, succeeded: 2 })
    expect(await run.result()).toEqual([7])
  })

  it('may wait for their results: it is run again from the top, finds its children, and burns no attempt', async () => {
    const { jobs, record } = world()
    let starts = 0
    const double = jobs.define('double', (n: number) => n * 2)
    const sum = jobs.define('sum', async (_: unknown, ctx) => {
      starts++
      for (const n of [1, 2]) await ctx.dispatchChild(double, n)
      await ctx.dispatchChild('double', 10, { key: 'ten' })
      const children = await ctx.children()
      expect(children.map(({ key, job, state }) => [key, job, state])).toEqual([
        ['double#1', 'double', 'succeeded'],
        ['double#2', 'double', 'succeeded'],
        ['ten', 'double', 'succeeded'],
      ])
      return [ctx.attempt, children.reduce((total, { result }) => total + (result as number), 0)]
    })
    const run = await sum.dispatch()
    await jobs.run()
    expect(await run.result()).toEqual([1, 26])
    expect([starts, (await record(run)).attempts]).toEqual([2, 1])
  })

  it('is told what a child is made of', async () => {
    const { jobs } = world()
    const parent = jobs.define('parent', async (_: unknown, ctx) => ctx.dispatchChild(undefined as never))
    const run = await parent.dispatch()
    await jobs.run()
    await expect(run.result()).rejects.toThrow('a class with "handle", got undefined')
  })

  it('J11, D14: may be given by its class or definition, as in a dispatch, and is registered by that', async () => {
    const { jobs, record } = world()
    class Measure {
      static jobName = 'sizes/measure'
      handle({ text }: { text: string }) {
        return text.length
      }
    }
    class Mark {
      readonly tone = 'loud'
      static handle(text: string) {
        return `${text}!`
      }
    }
    jobs.define('mark it', Mark).queue('marks')
    const shout = new JobDefinition({ job: 'shout', handler: (text: string) => text.toUpperCase() })
    const parent = jobs.define('parent', async (_: unknown, ctx) => {
      await ctx.dispatchChild(Measure, { text: 'four' })
      await ctx.dispatchChild(Mark, 'wow')
      await ctx.dispatchChild(shout.withQueue('loud').withPriority(9), 'hey')
      return (await ctx.children()).map(({ id, key, result }) => ({ id, key, result }))
    })
    const run = await parent.dispatch()
    await jobs.run()
    const [measured, marked, shouted] = (await run.result()) as { id: string }[]
    expect(measured).toMatchObject({ key: 'sizes/measure#1', result: 4 })
    expect(marked).toMatchObject({ key: 'mark it#1', result: 'wow!' })
    expect(shouted).toMatchObject({ key: 'shout#1', result: 'HEY' })
    expect(await record({ id: String(marked?.id) })).toMatchObject({ queue: 'marks' })
    expect(await record({ id: String(shouted?.id) })).toMatchObject({ queue: 'loud', priority: 9 })
  })

  it('fails when one of them fails, unless it says otherwise (demand 29)', async () => {
    const { jobs, happened } = world()
    const bad = jobs.define('bad', failing)
    const parent = jobs.define('parent', async (policy: 'fail' | 'ignore' | 'continue' | null, ctx) => {
      await ctx.dispatchChild(bad, null, policy === null ? {} : { onFailure: policy })
      return (await ctx.children()).map(({ state, error }) => [state, error])
    })
    const lenient = jobs
      .define('lenient', async (_: unknown, ctx) => void (await ctx.dispatchChild(bad)))
      .onChildFailure('ignore')
    const runs = [await parent.dispatch(null), await parent.dispatch('ignore'), await parent.dispatch('continue')]
    const other = await lenient.dispatch()
    await jobs.run()
    expect(await Promise.all(runs.map((run) => run.state()))).toEqual(['dead', 'succeeded', 'succeeded'])
    expect(await runs[1]?.result()).toEqual([['dead', 'it broke']])
    expect(await other.state()).toBe('succeeded')
    await expect(runs[0]?.result()).rejects.toThrow(/The job "bad" .* that it created is dead: it broke/)
    expect(happened.filter(({ name }) => name === 'job:dead')).toHaveLength(4)
  })

  it('is told to be dead when a child failed before its handler ended', async () => {
    const { jobs, happened } = world()
    const bad = jobs.define('bad', failing)
    const [made, { open, opened }] = [gate(), gate()]
    const parent = jobs.define('parent', async (_: unknown, ctx) => {
      await ctx.dispatchChild(bad)
      made.open()
      await opened
      return 'all is well'
    })
    const run = await parent.dispatch()
    const working = jobs.run({ jobs: ['parent'] })
    await made.opened
    await jobs.run({ jobs: ['bad'] })
    open()
    await working
    expect(await run.state()).toBe('dead')
    const deaths = happened.flatMap(({ name, event }) => (name === 'job:dead' ? [event] : []))
    expect(deaths).toContainEqual(expect.objectContaining({ job: 'parent', reason: 'dependency' }))
    expect(happened.some(({ name, event }) => name === 'job:succeeded' && 'job' in event && event.job === 'parent')).toBe(false)
  })

  it('keeps its children through a retry', async () => {
    const { jobs, clock, backend } = world()
    const child = jobs.define('child', () => 1)
    const parent = jobs
      .define('parent', async (_: unknown, ctx) => {
        await ctx.dispatchChild(child)
        if (ctx.attempt === 1) throw new Error('once')
        return 'done'
      })
      .retries(1)
    const run = await parent.dispatch()
    await drain(jobs, { clock })
    expect(await run.result()).toBe('done')
    expect(await backend.store.list({ job: 'child', limit: 10 })).toHaveLength(1)
  })

  it('can have children only while it holds its lease, and refuses what it cannot understand', async () => {
    const { jobs, clock, names, backend } = world()
    const child = jobs.define('child', () => 1)
    const { open, opened } = gate()
    const problems: string[] = []
    const parent = jobs.define('parent', async (_: unknown, ctx) => {
      for (const options of [{ key: '' }, { onFailure: 'skip' }, { dependsOn: 'x' }])
        await ctx.dispatchChild(child, null, options as never).catch((error: Error) => problems.push(error.message))
      await opened
      await ctx.dispatchChild(child).catch((error: Error) => problems.push(error.message))
    })
    const run = await parent.dispatch()
    const working = jobs.run({ lease: '10s' })
    await until(() => problems.length === 3)
    await (await jobs.store()).cancel(run.id)
    await clock.advance(60_000)
    open()
    await working
    expect(problems[0]).toContain('key must be a string')
    expect(problems[1]).toContain('onFailure must be one of fail, ignore, continue')
    expect(problems[2]).toContain('dependsOn')
    await until(() => problems.length === 4)
    expect(problems[3]).toContain('has passed to another worker')
    expect(names()).not.toContain('job:succeeded')
    expect(await backend.store.list({ job: 'child', limit: 1 })).toEqual([])
  })

  it('has grandchildren in the same tree, which can be cancelled as a whole', async () => {
    const { jobs, clock } = world()
    const leaf = jobs.define('leaf', () => 1)
    const branch = jobs.define('branch', async (_: unknown, ctx) => void (await ctx.dispatchChild(leaf, null, { delay: '1h' })))
    const trunk = jobs.define('trunk', async (_: unknown, ctx) => void (await ctx.dispatchChild(branch)))
    const after = jobs.define('after', () => 2)
    const run = await trunk.dispatch()
    const next = await after.dispatch(null, { dependsOn: run })
    await jobs.run()
    expect(await run.tree()).toEqual({
      total: 3,
      done: 0,
      counts: expect.objectContaining({ blocked: 2, scheduled: 1 }),
    })
    expect(await run.cancel({ tree: true })).toBe(true)
    expect(await run.tree()).toMatchObject({ done: 1, counts: { cancelled: 3 } })
    expect(await next.state()).toBe('cancelled')
    expect(await run.cancel({ tree: true })).toBe(false)
    expect((await drain(jobs, { clock })).succeeded).toBe(0)
  })

  it('makes no more of them once it was asked to stop: nobody would stop those', async () => {
    const { jobs, backend, names } = world()
    const leaf = jobs.define('leaf', () => 1)
    const made: string[] = []
    const { open, opened } = gate()
    const trunk = jobs.define('trunk', async (_: unknown, ctx) => {
      for (const each of ['one', 'two']) {
        await ctx.dispatchChild(leaf, null, { delay: '1h' })
        made.push(each)
        await opened
      }
    })
    const run = await trunk.dispatch()
    expect(await run.tree()).toMatchObject({ total: 1, counts: { ready: 1, running: 0, succeeded: 0 } })
    const working = jobs.run()
    await until(() => made.length === 1)
    await backend.store.cancel(run.id, { tree: true })
    open()
    await working
    expect([made, await run.state()]).toEqual([['one'], 'cancelled'])
    expect((await backend.store.list({ job: 'leaf', limit: 9 })).map(({ state }) => state)).toEqual(['cancelled'])
    expect(names()).not.toContain('job:dead')
  })
})

describe('a chain', () => {
  it('runs one step after the other and gives the result of the last', async () => {
    const { jobs } = world()
    const fetch = jobs.define('fetch', (url: string) => url.length)
    const count = jobs.define('count', async (_: unknown, ctx) => ((await ctx.dependencies())[0]?.result as number) + 1)
    const flow = await jobs.chain([fetch.step('http://example'), count.step(), count.step(null, { priority: 9 })])
    expect(await Promise.all(flow.runs.map((run) => run.state()))).toEqual(['ready', 'blocked', 'blocked'])
    await jobs.run()
    expectTypeOf(flow.result).returns.resolves.toEqualTypeOf<number>()
    expect(await flow.result()).toBe(16)
    expect(await flow.tree()).toMatchObject({ total: 3, done: 1 })
    expect(await flow.wait()).toMatchObject({ counts: { succeeded: 3 } })
  })

  it('ends where a step fails', async () => {
    const { jobs } = world()
    const good = jobs.define('good', () => 1)
    const bad = jobs.define('bad', failing)
    const flow = await jobs.chain([good.step(), bad.step(), good.step(), good.step()])
    await jobs.run()
    expect(await Promise.all(flow.runs.map((run) => run.state()))).toEqual(['succeeded', 'dead', 'dead', 'dead'])
    await expect(flow.result()).rejects.toMatchObject({ code: 'RUN_FAILED' })
    expect((await flow.wait()).counts).toMatchObject({ succeeded: 1, dead: 3 })
  })

  it('is stored as a whole or not at all', async () => {
    const { jobs, backend } = world()
    const good = jobs.define('good', (_: unknown) => 1)
    await expect(jobs.chain([good.step(1), good.step(1n)])).rejects.toMatchObject({ code: 'PAYLOAD_NOT_JSON' })
    await expect(jobs.chain([good.step(1), { job: 'unknown', payload: 1, options: {} }])).rejects.toMatchObject({
      code: 'JOB_UNKNOWN',
    })
    await expect(jobs.chain([])).rejects.toThrow('at least one step')
    await expect(jobs.chain([good as never])).rejects.toThrow('job.step(payload)')
    expect(await backend.store.list({ limit: 1 })).toEqual([])
  })
})

describe('a batch', () => {
  const flows = (isBad: boolean) => {
    const { jobs } = world()
    const seen: string[] = []
    const work = jobs.define('work', (n: number) => (n === 2 && isBad ? failing() : n * 10))
    const tell = jobs.define(
      'tell',
      async (name: string, ctx) => void seen.push(`${name}: ${(await ctx.dependencies()).map(({ state }) => state)}`),
    )
    const steps = [work.step(1), work.step(2), work.step(3)] as const
    return {
      jobs,
      seen,
      steps,
      callbacks: { onSuccess: tell.step('success'), onFailure: tell.step('failure'), onComplete: tell.step('complete') },
    }
  }

  it('gives all results, and calls back when all have succeeded', async () => {
    const { jobs, seen, steps, callbacks } = flows(false)
    const batch = await jobs.batch(steps, callbacks)
    expect((await batch.tree()).done).toBe(0)
    await jobs.run()
    expect(await batch.result()).toEqual([10, 20, 30])
    expect(seen.sort()).toEqual(['complete: succeeded,succeeded,succeeded', 'success: succeeded,succeeded,succeeded'])
    expect((await batch.wait()).counts).toMatchObject({ succeeded: 5, skipped: 1 })
  })

  it('calls back when one has failed', async () => {
    const { jobs, seen, steps, callbacks } = flows(true)
    const batch = await jobs.batch(steps, callbacks)
    await jobs.run()
    await expect(batch.result()).rejects.toThrow('it broke')
    expect(seen.sort()).toEqual(['complete: succeeded,dead,succeeded', 'failure: succeeded,dead,succeeded'])
    expect((await batch.wait()).counts).toMatchObject({ succeeded: 4, dead: 1, skipped: 1 })
  })

  it('can be cancelled', async () => {
    const { jobs, seen, steps, callbacks } = flows(false)
    const batch = await jobs.batch(steps, callbacks)
    expect(await batch.cancel()).toBe(6)
    await jobs.run()
    expect(seen).toEqual([])
    expect((await batch.wait()).counts).toMatchObject({ cancelled: 6 })
  })

  it('of ten thousand jobs has one callback', async () => {
    const { jobs } = world()
    let calls = 0
    const work = jobs.define('work', (_: number) => {})
    const done = jobs.define('done', () => void calls++)
    const batch = await jobs.batch(
      Array.from({ length: 10_000 }, (_, n) => work.step(n)),
      { onSuccess: done.step() },
    )
    await jobs.run({ concurrency: 1_000 })
    expect([calls, (await batch.tree()).done]).toEqual([1, 1])
  })
})

describe('a workflow of any shape', () => {
  it('runs each step when those before it have ended', async () => {
    const { jobs } = world()
    const order: string[] = []
    const step = jobs.define('step', (name: string) => {
      order.push(name)
      return name
    })
    const flow = jobs.workflow()
    const a = flow.add(step.step('a'))
    const [b, c] = [flow.add(step.step('b'), { after: a }), flow.add(step.step('c'), { after: [a] })]
    flow.add(step.step('d'), { after: [b, c] })
    const run = await flow.dispatch()
    await jobs.run({ concurrency: 1 })
    expect(order).toEqual(['a', 'b', 'c', 'd'])
    expect(await run.result()).toBe('d')
  })

  it('refuses a circle by the names of its steps, and steps that are not there', async () => {
    const { jobs, backend } = world()
    const step = jobs.define('step', () => {})
    const circle = jobs.workflow()
    circle.add(step.step(), { name: 'start' })
    circle.add(step.step(), { name: 'a', after: ['start', 'c'] })
    circle.add(step.step(), { name: 'b', after: 'a' })
    circle.add(step.step(), { name: 'c', after: 'b' })
    await expect(async () => circle.dispatch()).rejects.toThrow('a -> c -> b -> a')
    const unknown = jobs.workflow()
    unknown.add(step.step(), { after: 'nowhere' })
    await expect(async () => unknown.dispatch()).rejects.toThrow('step "step" comes after "nowhere", which was not added')
    expect(() => unknown.add(step.step(), { name: 'step' })).toThrow('there is already a step "step"')
    expect(() => unknown.add(step.step(), { onFailure: 'run' as never })).toThrow('fail, skip, ignore, continue, rescue')
    await expect(async () => jobs.workflow().dispatch()).rejects.toThrow('it has no steps')
    expect(await backend.store.list({ limit: 1 })).toEqual([])
  })

  it('refuses what is no step, no name and no callback, and says what is', async () => {
    const { jobs, backend } = world()
    const step = jobs.define('step', () => {})
    const flow = jobs.workflow()
    const add = flow.add.bind(flow) as (step: unknown, options?: unknown) => unknown
    expect(() => add(undefined)).toThrow('such as job.step(payload), got undefined')
    expect(() => add(step)).toThrow('such as job.step(payload), got the job "step" itself')
    expect(() => add(step.step(), { name: '' })).toThrow('name must be a string of 1 to 512 characters')
    expect(() => add(step.step(), { after: null })).toThrow('after takes steps as add() returned them, or their names')
    expect(() => add(step.step(), { after: [4] })).toThrow('after takes steps as add() returned them, or their names')
    expect(() => add(step.step(), null)).toThrow('its options must be an object (known: name, after, onFailure), got null')
    const batch = jobs.batch.bind(jobs) as (steps: unknown, callbacks: unknown) => Promise<unknown>
    await expect(batch([step.step()], { onSucces: step.step() })).rejects.toThrow('did you mean "onSuccess"?')
    await expect(batch([step.step()], null)).rejects.toThrow('its options must be an object')
    await expect(jobs.chain([step.step(undefined, '1h' as never)])).rejects.toThrow("got '1h'")
    expect(await backend.store.list({ limit: 1 })).toEqual([])
  })

  it('says of each step what a failure before it means', async () => {
    const { jobs } = world()
    const bad = jobs.define('bad', failing)
    const good = jobs.define('good', () => 1)
    const flow = jobs.workflow()
    const first = flow.add(bad.step())
    for (const onFailure of ['fail', 'skip', 'ignore', 'continue', 'rescue'] as const)
      flow.add(good.step(), { after: first, onFailure })
    const run = await flow.dispatch()
    await jobs.run()
    expect(await Promise.all(run.runs.map((each) => each.state()))).toEqual([
      'dead',
      'dead',
      'skipped',
      'succeeded',
      'succeeded',
      'succeeded',
    ])
  })
})

describe('what waits', () => {
  it('is found by a worker that slept when it became ready, and waits for the real end of a parent', async () => {
    const { jobs } = world()
    const child = jobs.define('child', () => 1)
    const parent = jobs.define('parent', async (_: unknown, ctx) => {
      await ctx.dispatchChild(child)
      return 'parent'
    })
    const after = jobs.define('after', async (_: unknown, ctx) => (await ctx.dependencies())[0]?.result)
    const working = jobs.work({ poll: '1h', scheduler: false, signals: false })
    const run = await parent.dispatch()
    const last = await after.dispatch(null, { dependsOn: run })
    expect(await last.result()).toBe('parent')
    expect(await run.result()).toBe('parent')
    await jobs.stop()
    await working
  })

  it('is run where it is dispatched on the sync backend', async () => {
    const { treadle } = await import('../../src/app/treadle.ts')
    await using jobs = treadle('sync:')
    const child = jobs.define('child', (n: number) => n + 1)
    const parent = jobs.define('parent', async (_: unknown, ctx) => {
      await ctx.dispatchChild(child, 1)
      return (await ctx.children())[0]?.result
    })
    expect(await (await parent.dispatch()).result()).toBe(2)
    expect(await (await jobs.chain([child.step(1), child.step(2)])).result()).toBe(3)
  })
})

describe('what a workflow cannot do', () => {
  it('is said, and nothing is stored: a transaction of a single step, options that nobody reads', async () => {
    const { jobs, backend } = world()
    const job = jobs.define('work', async () => {})
    const within = job.step(undefined, { in: { exec() {}, prepare() {} } as never })
    const refused = { code: 'CONFIG_INVALID', message: expect.stringContaining('in: tx') }
    await expect(jobs.chain([job.step(), within])).rejects.toMatchObject(refused)
    await expect(jobs.batch([within])).rejects.toMatchObject(refused)
    await expect(jobs.batch([job.step()], { onComplete: within })).rejects.toMatchObject(refused)
    expect(() => jobs.workflow().add(within)).toThrow(expect.objectContaining(refused))
    await expect(jobs.chain([job.step()], { delay: '1h' } as never)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    await expect(jobs.chain([job.step(undefined, '1h' as never)])).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    await expect(jobs.chain([job.step()], { in: undefined })).rejects.toMatchObject({ code: 'CAPABILITY_MISSING' })
    expect(await backend.store.list({ limit: 10 })).toEqual([])
  })

  it('a child in a transaction is refused: it would be stored outside of it', async () => {
    const { jobs, record } = world()
    const child = jobs.define('child', async () => {})
    const parent = jobs.define('parent', async (_: undefined, ctx) => {
      await ctx.dispatchChild(child, undefined, { in: {} } as never)
    })
    const run = await parent.dispatch()
    await jobs.run()
    expect((await record(run)).errors[0]?.message).toContain('unknown option "in"')
  })
})
