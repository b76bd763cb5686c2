import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { IncompleteDispatchError } from '../../src/app/dispatching/incomplete-dispatch.ts'
import { nextTurn } from '../../src/core/time/clock.ts'
import { parseIdentity } from '../../src/envelope/envelope.ts'
import type { JobRecord } from '../../src/queue/contract/store.ts'
import { world } from '../world.ts'

describe('a dispatch', () => {
  it('J1, J26: stores one row each, with what the definition says', async () => {
    const { jobs, backend, clock } = world()
    const job = jobs
      .define('mail', async (_: { to: string }) => {})
      .named('Mail')
      .queue('mail')
      .priority('high')
      .retries(2)
      .meta({ tenant: 'acme' })
    const [one, two] = [await job.dispatch({ to: 'ada' }), await job.dispatch({ to: 'bob' })]
    expect(one).toMatchObject({ job: 'mail', created: true })
    expect(one.id < two.id).toBe(true)
    expect(await backend.store.get(one.id)).toMatchObject({
      job: 'mail',
      name: 'Mail',
      queue: 'mail',
      priority: 10,
      maxRetries: 2,
      state: 'ready',
      payload: '{"to":"ada"}',
      meta: { tenant: 'acme' },
      createdAt: clock.now(),
      runAt: clock.now(),
      attempts: 0,
      uniqueKey: null,
      idempotencyKey: null,
    })
    expect(await backend.store.list({ limit: 10 })).toHaveLength(2)
  })

  it('has no payload where undefined stands before the options', async () => {
    const { jobs, record } = world()
    const tick = jobs.define('tick', (_?: { n: number }) => {})
    const counted = jobs.define('counted', (_?: { n: number }) => {}).args({ n: 1 })
    const runs = [
      await tick.dispatch(undefined, { priority: 9 }),
      await counted.dispatch(undefined, { priority: 9 }),
      await counted.delay('1h').dispatch(undefined, {}),
      await jobs.dispatch('counted', undefined, { priority: 9 }),
      ...(await jobs.chain([counted.step(undefined, { priority: 9 })])).runs,
    ]
    const payloads = await Promise.all(runs.map(async (run) => (await record(run)).payload))
    expect(payloads).toEqual(['null', ...Array(4).fill('{"n":1}')])
  })

  it('takes options for this dispatch alone', async () => {
    const { jobs, record } = world()
    const job = jobs.define('mail', async () => {}).meta({ tenant: 'acme', region: 'eu' })
    const options = {
      queue: 'slow',
      priority: 'low',
      maxRetries: 7,
      unique: 'u',
      idempotencyKey: 'i',
      meta: { region: 'us' },
    } as const
    const [special, plain] = [await job.dispatch({}, options), await job.dispatch({})]
    expect(await record(special)).toMatchObject({
      queue: 'slow',
      priority: 1,
      maxRetries: 7,
      uniqueKey: 'u',
      idempotencyKey: 'i',
      meta: { tenant: 'acme', region: 'us' },
    })
    expect(await record(plain)).toMatchObject({
      queue: 'default',
      priority: 5,
      maxRetries: 0,
      uniqueKey: null,
      idempotencyKey: null,
    })
  })

  it('X18, D5: signs what the worker will need: timeout, singleInstance, meta and the queue that it resolved', async () => {
    const { jobs, backend } = world()
    await jobs
      .define('mail', async () => {})
      .timeout('5s')
      .singleInstance()
      .meta({ a: 1 })
      .dispatch({}, { timeout: '7s' })
    const claim = {
      jobs: [{ job: 'mail', concurrency: null }],
      queues: null,
      limit: 1,
      leaseMs: 3_000,
      owner: 'x',
      maxRescues: 9,
    }
    const [lease] = (await backend.lease(claim)).leases
    expect(parseIdentity(lease?.envelope.identity as string)).toMatchObject({
      timeoutMs: 7_000,
      singleInstance: true,
      meta: { a: 1 },
      queue: 'default',
    })
  })

  it('J24: waits for a delay or an instant', async () => {
    const { jobs, clock, record } = world()
    const job = jobs.define('mail', async () => {})
    const at = new Date(clock.now() + 5_000)
    const runs = [
      await job.delay('5s').dispatch(),
      await job.at(at).dispatch(),
      await job.dispatch({}, { delay: 5_000 }),
      await job.dispatch({}, { at: at.toISOString() }),
      await jobs.dispatch('mail', {}, '5s'),
      await jobs.dispatch('mail', {}, 5_000),
      await jobs.args({}).delay('5s').dispatch('mail'),
      await jobs.args({}).at(at).dispatch('mail'),
    ]
    for (const run of runs) expect(await record(run)).toMatchObject({ state: 'scheduled', runAt: at.getTime() })
    const past = await job.at('2020-01-01T00:00:00Z').dispatch()
    expect(await record(past)).toMatchObject({ state: 'ready' })
  })

  it('J23, X26: names its job by builder, key or class, with options or a delay', async () => {
    const { jobs, record } = world()
    class Report {
      async handle(payload: { year: number }) {
        return payload.year
      }
    }
    const mail = jobs.define('mail', async (payload: { to: string }) => payload.to)
    const runs = [
      await jobs.dispatch(mail, { to: 'ada' }),
      await jobs.dispatch('mail', { to: 'ada' }, { priority: 9 }),
      await jobs.dispatch('mail', { to: 'ada' }, '1s'),
      await jobs.dispatch(Report, { year: 2026 }),
      await jobs.dispatch(Report, { year: 2027 }, '1s'),
    ]
    expect(runs.map(({ job }) => job)).toEqual(['mail', 'mail', 'mail', 'Report', 'Report'])
    expect(await record(runs[1] as never)).toMatchObject({ priority: 9 })
    await jobs.run()
    expect(await runs[0]?.result()).toBe('ada')
    expect(await runs[3]?.result()).toBe(2026)
  })

  it('J11: of a class defines it on the way, once', async () => {
    const { jobs } = world()
    // biome-ignore lint/complexity/noStaticOnlyClass: the form that some frameworks ask for
    class Report {
      static async handle() {
        return 'static'
      }
    }
    expect(jobs.has('Report')).toBe(false)
    await jobs.dispatch(Report)
    const run = await jobs.dispatch(Report)
    expect(jobs.definitions().map(({ job }) => job)).toEqual(['Report'])
    await jobs.run()
    expect(await run.result()).toBe('static')
  })

  it('J23: defines a function on the way, under a name', async () => {
    const { jobs } = world()
    const run = await jobs.dispatch('ad hoc', async () => 'ran')
    const delayed = await jobs.dispatch('ad hoc', async () => 'ran', '1h')
    await jobs.run()
    expect(await run.result()).toBe('ran')
    expect(await delayed.state()).toBe('scheduled')
  })

  it('of a function under a name that cannot be refuses it, and leaves nothing broken behind', async () => {
    const { jobs } = world()
    await expect(jobs.dispatch('', async () => {})).rejects.toThrow(expect.objectContaining({ code: 'DEFINITION_INVALID' }))
    expect(jobs.definitions()).toEqual([])
  })

  it('of a function as a payload is refused', async () => {
    const { jobs } = world()
    const mail = jobs.define('mail', async (_: unknown) => {})
    await expect(jobs.dispatch(mail, () => {})).rejects.toThrow(expect.objectContaining({ code: 'PAYLOAD_NOT_JSON' }))
  })

  it('of a job that nobody defined is refused with those that are', async () => {
    const { jobs } = world()
    jobs.define('mail', async () => {})
    await expect(jobs.dispatch('mial')).rejects.toThrow('No job is defined as "mial". Did you mean "mail"? Defined here: mail')
    await expect(jobs.args({}).dispatch('mial')).rejects.toThrow(expect.objectContaining({ code: 'JOB_UNKNOWN' }))
    await expect(jobs.dispatchMany('mial', [])).rejects.toThrow(expect.objectContaining({ code: 'JOB_UNKNOWN' }))
  })

  it('J25: without a payload takes the arguments of the definition', async () => {
    const { jobs, record } = world()
    const job = jobs.define('mail', async (_?: { to: string }) => {}).args({ to: 'ada' })
    expect(await record(await job.dispatch())).toMatchObject({ payload: '{"to":"ada"}' })
    expect(await record(await jobs.dispatch('mail'))).toMatchObject({ payload: '{"to":"ada"}' })
    expect(await record(await job.dispatch({ to: 'bob' }))).toMatchObject({ payload: '{"to":"bob"}' })
    expect(await record(await jobs.define('bare', async () => {}).dispatch())).toMatchObject({ payload: 'null' })
  })

  it.each<[string, unknown, string]>([
    ['that is not JSON', { at: 1n }, 'PAYLOAD_NOT_JSON'],
    ['that does not fit the schema', { to: 7 }, 'PAYLOAD_INVALID'],
  ])('of a payload %s is refused and stores nothing', async (_, payload, code) => {
    const { jobs, backend } = world()
    const job = jobs.define('mail', { input: z.object({ to: z.string() }) }, async () => {})
    await expect(job.dispatch(payload as never)).rejects.toThrow(expect.objectContaining({ code }))
    expect(await backend.store.list({ limit: 1 })).toEqual([])
  })

  it('is refused with all that is wrong with its options', async () => {
    const { jobs } = world()
    const job = jobs.define('mail', async () => {})
    const wrong = {
      queue: '',
      priority: 'urgent',
      maxRetries: -1,
      timeout: 0,
      unique: '',
      delay: 1,
      at: new Date(0),
      meta: [],
      prioriti: 1,
    }
    await expect(job.dispatch({}, wrong as never)).rejects.toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: expect.stringMatching(
          /did you mean "priority".*a queue must be.*priority must be.*retries must be.*timeout must be more.*meta must be an object.*unique must be.*give either delay or at/,
        ),
      }),
    )
  })

  it('coalesces many into a few calls of the queue', async () => {
    const { jobs, backend } = world()
    let calls = 0
    const send = backend.send.bind(backend)
    Object.assign(backend, {
      send: (envelopes: never) => {
        calls++
        return send(envelopes)
      },
    })
    const job = jobs.define('mail', async () => {})
    const runs = await Promise.all(Array.from({ length: 3_000 }, () => job.dispatch()))
    expect(new Set(runs.map(({ id }) => id)).size).toBe(3_000)
    expect(calls).toBeLessThan(10)
  })
})

describe('a unique key', () => {
  it('keeps a second job away while the first one waits or runs, and gives a handle of the first', async () => {
    const { jobs } = world()
    const job = jobs.define('mail', async (_: { to: string }) => {}).unique(({ to }) => `to:${to}`)
    const first = await job.dispatch({ to: 'ada' })
    const second = await job.dispatch({ to: 'ada' })
    const other = await job.dispatch({ to: 'bob' })
    expect(second).toMatchObject({ id: first.id, created: false })
    expect(other.created).toBe(true)
    await jobs.run()
    expect((await job.dispatch({ to: 'ada' })).created).toBe(true)
  })

  it('belongs to one job: another may have the same', async () => {
    const { jobs } = world()
    const [one, two] = [jobs.define('one', async () => {}), jobs.define('two', async () => {})]
    expect(
      [await one.dispatch({}, { unique: 'u' }), await two.dispatch({}, { unique: 'u' })].map(({ created }) => created),
    ).toEqual([true, true])
  })

  it('is made of what the handler gets, where a schema transforms', async () => {
    const { jobs, record } = world()
    const input = z.object({ at: z.string().transform((text) => new Date(text)) })
    const job = jobs.define('remind', { input }, async () => {}).unique(({ at }) => at.toISOString())
    const run = await job.dispatch({ at: '2026-06-10T11:00:00+02:00' })
    expect(await record(run)).toMatchObject({ uniqueKey: '2026-06-10T09:00:00.000Z' })
  })

  it('that is none, or that cannot be made, is said', async () => {
    const { jobs, record } = world()
    const job = jobs
      .define('mail', async (_: string | number) => {})
      .unique((payload) => (payload === 'none' ? null : (payload as string)))
    expect(await record(await job.dispatch('none'))).toMatchObject({ uniqueKey: null })
    await expect(job.dispatch('')).rejects.toThrow('unique must be a string of 1 to 512 characters')
    await expect(job.dispatch(7)).rejects.toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
  })
})

describe('a dispatch of many', () => {
  it('gives a handle for each, in their order', async () => {
    const { jobs, record } = world()
    const runs = await jobs.define('mail', async (_: number) => {}).dispatchMany([1, 2, 3])
    const payloads = await Promise.all(runs.map(async (run) => ((await record(run)) as JobRecord).payload))
    expect(payloads).toEqual(['1', '2', '3'])
    expect(await jobs.dispatchMany('mail', [])).toEqual([])
    expect(await jobs.dispatchMany('mail', [4], null as never)).toHaveLength(1)
  })

  it('takes undefined for no payload, as a dispatch without one does', async () => {
    const { jobs, backend } = world()
    const plain = jobs.define('plain', async () => {})
    const filled = jobs.define('filled', async (_: { n: number }) => {}).args({ n: 1 })
    const runs = [
      await plain.dispatch(),
      ...(await plain.dispatchMany([undefined, undefined])),
      ...(await plain.delay('1h').dispatchMany([undefined])),
      ...(await jobs.dispatchMany('plain', [undefined])),
      ...(await filled.dispatchMany([undefined, { n: 2 }])),
    ]
    const payloads = await Promise.all(runs.map(async ({ id }) => (await backend.store.get(id))?.payload))
    expect(payloads).toEqual([...Array.from({ length: 5 }, () => payloads[0]), '{"n":1}', '{"n":2}'])
  })

  it('stores nothing when one payload is refused, however many there are', async () => {
    const { jobs, backend } = world()
    const input = z.number()
    const job = jobs.define('mail', { input }, async () => {})
    const payloads = Array.from({ length: 2_500 }, (_, index) => (index === 2_400 ? 'two' : index))
    await expect(job.dispatchMany(payloads as never)).rejects.toThrow(expect.objectContaining({ code: 'PAYLOAD_INVALID' }))
    const keyed = jobs.define('keyed', async (_: number) => {}).unique((payload) => (payload === 2_400 ? '' : `${payload}`))
    await expect(keyed.dispatchMany(Array.from({ length: 2_500 }, (_, index) => index))).rejects.toThrow('unique must be')
    expect(await backend.store.list({ limit: 1 })).toEqual([])
  })

  it('goes in a few calls of the queue', async () => {
    const { jobs, backend } = world()
    const sizes: number[] = []
    const send = backend.send.bind(backend)
    Object.assign(backend, {
      send: (envelopes: readonly never[]) => {
        sizes.push(envelopes.length)
        return send(envelopes)
      },
    })
    const runs = await jobs.define('mail', async () => {}).dispatchMany(Array.from({ length: 2_500 }, () => null))
    expect(runs).toHaveLength(2_500)
    expect(sizes.length).toBeLessThanOrEqual(3)
    expect(sizes.reduce((sum, size) => sum + size)).toBe(2_500)
  })

  it('has two parts of a long list under way at once, and none any more when it is told that one failed', async () => {
    const { jobs, backend } = world()
    const underWay: { fail(error: Error): void; done(): void }[] = []
    let ended = 0
    const send = (envelopes: readonly { readonly id: string }[]) =>
      new Promise((resolve, reject) => {
        const end = (settle: () => void) => {
          ended++
          settle()
        }
        underWay.push({
          fail: (error) => end(() => reject(error)),
          done: () => end(() => resolve(envelopes.map(({ id }) => ({ id, stored: true })))),
        })
      })
    Object.assign(backend, { send })
    const sending = jobs.define('mail', async () => {}).dispatchMany(Array.from({ length: 5_000 }, () => null))
    const refused = sending.catch((thrown: unknown) => ({ thrown, ended }))
    for (let turn = 0; turn < 10; turn++) await nextTurn()
    expect(underWay).toHaveLength(2)
    underWay[0]?.done()
    for (let turn = 0; turn < 10; turn++) await nextTurn()
    expect(underWay).toHaveLength(3)
    const failure = new Error('the database is gone')
    underWay[1]?.fail(failure)
    for (let turn = 0; turn < 10; turn++) await nextTurn()
    expect(underWay).toHaveLength(3)
    underWay[2]?.done()
    const { thrown, ended: endedThen } = (await refused) as { thrown: IncompleteDispatchError; ended: number }
    expect(endedThen).toBe(3)
    expect(thrown).toMatchObject({ code: 'DISPATCH_INCOMPLETE', cause: failure })
    expect(thrown.message).toContain('2000 of 5000 jobs of "mail" were stored')
    const isStored = thrown.ids.map((id) => id !== null)
    expect([0, 999, 1_000, 1_999, 2_000, 2_999, 3_000, 4_999].map((index) => isStored[index])).toEqual([
      true,
      true,
      false,
      false,
      true,
      true,
      false,
      false,
    ])
  })

  it('that fails at once is told to its caller, and to nobody else', async () => {
    const { jobs, backend } = world()
    const failure = new Error('the disk is full')
    Object.assign(backend, { send: () => Promise.reject(failure) })
    const job = jobs.define('mail', async () => {})
    for (const length of [1, 5_000]) await expect(job.dispatchMany(Array.from({ length }, () => null))).rejects.toBe(failure)
  })

  it('keeps doubles of a unique key away among themselves', async () => {
    const { jobs } = world()
    const job = jobs.define('mail', async (_: string) => {}).unique((to) => to)
    const runs = await job.dispatchMany(['ada', 'bob', 'ada'])
    expect(runs.map(({ created }) => created)).toEqual([true, true, false])
    expect(runs[2]?.id).toBe(runs[0]?.id)
  })
})
