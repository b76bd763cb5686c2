import { afterEach, describe, expect, test } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import { systemClock } from '../../src/core/time/clock.ts'
import { openMemory } from '../../src/engines/memory/index.ts'
import { type Treadle, treadle } from '../../src/index.ts'
import type { QueueBackend } from '../../src/queue/contract/contract.ts'

let jobs: Treadle

function program(): Treadle {
  const backends = { default: 'memory:', fast: 'memory:', audit: 'memory:' }
  jobs = treadle({ backends, logger: silentLogger })
  return jobs
}

const countsOf = async (name: string) => {
  const store = await (await jobs.backend(name)).store()
  return (await store.list({ limit: 100 })).map(({ job }) => job)
}

describe('a program with several backends', () => {
  afterEach(() => jobs.close())

  test('keeps each job where its definition says, and where a dispatch says otherwise, there', async () => {
    const plain = program().define('plain', async () => {})
    const quick = jobs.define('quick', async () => {}).backend('fast')
    await plain.dispatch()
    await quick.dispatch()
    await jobs.dispatch('plain', null, { backend: 'audit' })
    await jobs.dispatchMany('quick', [1, 2], { backend: 'default' })
    expect(await countsOf('default')).toEqual(['quick', 'quick', 'plain'])
    expect(await countsOf('fast')).toEqual(['quick'])
    expect(await countsOf('audit')).toEqual(['plain'])
    expect(await jobs.backendNames()).toEqual(['default', 'fast', 'audit'])
  })

  test('works in all of them, or in one alone', async () => {
    const ran: string[] = []
    program().define('plain', async (name: string) => void ran.push(name))
    for (const backend of await jobs.backendNames()) await jobs.dispatch('plain', backend, { backend })
    expect((await jobs.run({ backend: 'fast' })).succeeded).toBe(1)
    expect(ran).toEqual(['fast'])
    expect((await jobs.run()).succeeded).toBe(2)
    expect(ran.toSorted()).toEqual(['audit', 'default', 'fast'])
  })

  test('goes on in all of them until it is stopped, and tells of all jobs', async () => {
    program().define('plain', async () => 'done')
    const ended: string[] = []
    const all = new Promise<void>((resolve) => {
      jobs.on('job:succeeded', ({ id }) => {
        ended.push(id)
        if (ended.length === 3) resolve()
      })
    })
    const working = jobs.work({ signals: false })
    const runs = []
    for (const backend of await jobs.backendNames()) runs.push(await jobs.dispatch('plain', null, { backend }))
    await all
    await jobs.stop()
    expect((await working).succeeded).toBe(3)
    expect(ended.toSorted()).toEqual(runs.map(({ id }) => id).toSorted())
  })

  test('finds a job by its id, wherever it is', async () => {
    program().define('plain', async () => 7)
    const { id } = await jobs.dispatch('plain', null, { backend: 'audit' })
    expect(await jobs.handle(id).state()).toBe('ready')
    await jobs.run()
    expect(await jobs.handle(id).result()).toBe(7)
    await expect(jobs.handle('nowhere').state()).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
  })

  test('follows each schedule in the backend of its job alone', async () => {
    program()
      .define('tick', async () => {})
      .backend('fast')
      .cron('* * * * *')
    await jobs.run()
    expect([await countsOf('default'), new Set(await countsOf('fast'))]).toEqual([[], new Set(['tick'])])
  })

  test('refuses a workflow across backends, and runs one that is in another backend as a whole', async () => {
    const here = program().define('here', async () => 1)
    const there = jobs.define('there', async () => 2).backend('fast')
    await expect(jobs.chain([here.step(), there.step()])).rejects.toMatchObject({
      code: 'CAPABILITY_MISSING',
      message: expect.stringContaining('these are in default and fast'),
    })
    const run = await jobs.chain([there.step(), there.step()])
    await jobs.run()
    expect(await run.result()).toBe(2)
    expect((await countsOf('fast')).length).toBe(2)
  })

  test('refuses a job that depends on the handle of a job in another backend', async () => {
    const here = program().define('here', async () => 1)
    const there = jobs.define('there', async () => 2).backend('fast')
    const [near, far] = [await here.dispatch(), await there.dispatch()]
    const refusal = { code: 'CAPABILITY_MISSING', message: expect.stringContaining('these are in default and fast') }
    await expect(here.dispatch(undefined, { dependsOn: far })).rejects.toMatchObject(refusal)
    await expect(jobs.dispatch('here', null, { dependsOn: [near, far] })).rejects.toMatchObject(refusal)
    await expect(jobs.dispatchMany(here, [null], { dependsOn: far })).rejects.toMatchObject(refusal)
    await expect(jobs.chain([here.step(undefined, { dependsOn: far })])).rejects.toMatchObject(refusal)
    await there.dispatch(undefined, { dependsOn: far })
    const elsewhere = await jobs.dispatch('here', null, { backend: 'fast', dependsOn: far })
    expect([(await countsOf('default')).length, elsewhere.created]).toEqual([1, true])
  })

  test('refuses names that it does not know, with the line to add', async () => {
    program().define('plain', async () => {})
    const refusal = { code: 'BACKEND_UNKNOWN', message: expect.stringContaining("slow: 'sqlite:slow.db'") }
    await expect(jobs.dispatch('plain', null, { backend: 'slow' })).rejects.toMatchObject(refusal)
    await expect(jobs.run({ backend: 'slow' })).rejects.toMatchObject(refusal)
    expect(() => treadle({ backends: { fast: 'memory:' } })).toThrow('must name the default one')
    expect(() =>
      jobs
        .define('bad', async () => {})
        .backend('no way')
        .toDefinition(),
    ).toThrow('the name of a backend')
  })
})

describe('a backend without a state that workers share', () => {
  const broker = (): QueueBackend => {
    const whole = openMemory({ clock: systemClock })
    return {
      kind: 'broker',
      send: (envelopes) => whole.send(envelopes),
      lease: (request) => whole.lease(request),
      settle: (settlements) => whole.settle(settlements),
      begin: (tokens) => whole.begin(tokens),
      extend: (tokens, leaseMs) => whole.extend(tokens, leaseMs),
      reap: (maxRescues) => whole.reap(maxRescues),
      watch: (wake) => whole.watch(wake),
      [Symbol.asyncDispose]: () => whole[Symbol.asyncDispose](),
    }
  }
  afterEach(() => jobs.close())

  test.each([
    ['a unique key', () => jobs.define('j', async () => {}).unique('k')],
    ['an idempotency key', () => jobs.define('j', async () => {}).idempotencyKey('k')],
    ['a limit on how many run at once', () => jobs.define('j', async () => {}).concurrency(2)],
    ['a rate limit', () => jobs.define('j', async () => {}).rate(1, '1s')],
  ])('refuses %s, and says what to do', async (what, define) => {
    jobs = treadle({ backend: broker(), unsigned: true, logger: silentLogger })
    define()
    const refusal = { code: 'CAPABILITY_MISSING', message: expect.stringContaining(`has ${what}`) }
    await expect(jobs.dispatch('j')).rejects.toMatchObject(refusal)
  })

  test('refuses limits when a worker starts, and schedules', async () => {
    jobs = treadle({ backend: broker(), unsigned: true, logger: silentLogger })
    jobs.define('j', async () => {}).singleInstance()
    await expect(jobs.run()).rejects.toMatchObject({
      code: 'CAPABILITY_MISSING',
      message: expect.stringContaining("{ coordination: 'redis://…' }"),
    })
  })
})
