import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Treadle } from '../../src/app/treadle.ts'
import type { QueueBackend } from '../../src/queue/contract/contract.ts'
import type { JobStore } from '../../src/queue/contract/store.ts'
import { type World, world, worldOn } from '../world.ts'

describe('how long a unique key is held', () => {
  it.each([
    ['started', [false, true, false]],
    ['ended', [false, false, true]],
    ['ever', [false, false, false]],
    ['1h', [false, false, false]],
  ] as const)('until %s', async (until, expected) => {
    const { jobs } = world()
    const created: boolean[] = []
    const say = async () => created.push((await job.dispatch()).created)
    const job = jobs.define('job', async () => void (created.length < 2 && (await say()))).unique('k', { until })
    await job.dispatch()
    await say()
    await jobs.run({ limit: 1 })
    await say()
    expect(created).toEqual(expected)
  })

  it('for a time, counted from the dispatch, whatever became of the job (J6)', async () => {
    const { jobs, clock } = world({ keep: { succeeded: 0 } })
    const job = jobs.define('job', async () => {}).unique('k', { until: '1h' })
    const first = await job.dispatch()
    await jobs.run()
    await clock.advance(3_599_999)
    expect(await job.dispatch()).toMatchObject({ id: first.id, created: false })
    await clock.advance(1)
    expect((await job.dispatch()).created).toBe(true)
  })

  it('is swept by the housekeeping once it is over', async () => {
    const { jobs, clock, backend } = world()
    await jobs
      .define('job', async () => {})
      .unique('k', { until: '1h' })
      .dispatch()
    await clock.advance(3_600_000)
    await jobs.prune()
    expect((await backend.store.sweep({ part: 'keys', limit: 10 })).changed).toBe(0)
  })

  it('may be said for one dispatch, and what is left out is as the definition says', async () => {
    const { jobs } = world()
    const job = jobs.define('job', async () => {}).unique('k', { until: 'ever' })
    await job.dispatch({}, { unique: 'other' })
    await job.dispatch({}, { unique: { key: 'third', until: 'started' } })
    await jobs.run()
    expect((await job.dispatch({}, { unique: 'other' })).created).toBe(false)
    expect((await job.dispatch({}, { unique: 'third' })).created).toBe(true)
  })
})

describe('a dispatch whose unique key is held', () => {
  it('is ignored unless it says otherwise', async () => {
    const { jobs, record } = world()
    const job = jobs.define('job', async (_: number) => {}).unique('k')
    const run = await job.dispatch(1)
    await job.dispatch(2, { priority: 9 })
    expect(await record(run)).toMatchObject({ payload: '1', priority: 5 })
  })

  it('replaces what waits: payload, time, queue, priority and options, under the same id', async () => {
    const { jobs, record, clock } = world({ signingKey: 'a secret of sixteen bytes' })
    const seen: unknown[] = []
    const job = jobs
      .define('job', async (n: number, ctx) => void seen.push([n, ctx.queue, ctx.maxAttempts, ctx.meta]))
      .unique('k', { onConflict: 'replace' })
    const run = await job.dispatch(1)
    const createdAt = clock.now()
    await clock.advance(500)
    const options = { delay: '1m', queue: 'mail', priority: 9, maxRetries: 4, meta: { a: 1 } } as const
    expect(await job.dispatch(2, options)).toMatchObject({ id: run.id, created: false })
    expect(await record(run)).toMatchObject({ payload: '2', queue: 'mail', priority: 9, state: 'scheduled', createdAt })
    await clock.advance(60_000)
    await jobs.run()
    expect(seen).toEqual([[2, 'mail', 5, { a: 1 }]])
  })

  it('merges objects member by member at the top, and replaces anything else', async () => {
    const { jobs, record } = world()
    const job = jobs.define('job', async (_: unknown) => {}).unique('k', { onConflict: 'merge' })
    const run = await job.dispatch({ a: 1, deep: { x: 1 } })
    await job.dispatch({ b: 2, deep: { y: 2 } })
    expect((await record(run)).payload).toBe('{"a":1,"deep":{"y":2},"b":2}')
    await job.dispatch([1])
    expect((await record(run)).payload).toBe('[1]')
    await job.dispatch({ c: 3 })
    expect((await record(run)).payload).toBe('{"c":3}')
  })

  it('checks what was merged like what is dispatched', async () => {
    const { jobs, record } = world({ maxPayloadBytes: 40 })
    const input = z.object({ a: z.number().optional(), b: z.number().optional() }).refine(({ a, b }) => !(a && b), 'not both')
    const job = jobs.define('job', { input }, async () => {}).unique('k', { onConflict: 'merge' })
    const run = await job.dispatch({ a: 1 })
    await expect(job.dispatch({ b: 1 })).rejects.toMatchObject({ code: 'PAYLOAD_INVALID' })
    expect((await record(run)).payload).toBe('{"a":1}')
    const large = jobs.define('large', async (_: unknown) => {}).unique('k', { onConflict: 'merge' })
    await large.dispatch({ a: 'x'.repeat(25) })
    await expect(large.dispatch({ b: 'x'.repeat(25) })).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
  })

  it('leaves a job that runs, has ended or is deleted as it is', async () => {
    const { jobs, record } = world({ keep: { succeeded: '1h' } })
    const inside: boolean[] = []
    const job = jobs
      .define('job', async (_: number) => void inside.push((await job.dispatch(2)).created))
      .unique('k', { until: 'ever', onConflict: 'replace' })
    const run = await job.dispatch(1)
    await jobs.run()
    expect(inside).toEqual([false])
    expect(await job.dispatch(3)).toMatchObject({ id: run.id, created: false })
    expect((await record(run)).payload).toBe('1')
    await (await jobs.store()).remove({ state: 'succeeded', limit: 1 })
    expect(await job.dispatch(4)).toMatchObject({ id: run.id, created: false })
  })

  it('is stored anew when the holder was claimed in between and freed its key', async () => {
    const { jobs, backend } = world()
    const job = jobs.define('job', async (_: number) => {}).unique('k', { until: 'started', onConflict: 'replace' })
    const first = await job.dispatch(1)
    const amend = backend.store.amend.bind(backend.store)
    backend.store.amend = async (amendments) => {
      backend.store.amend = amend
      await jobs.run()
      return amend(amendments)
    }
    const second = await job.dispatch(2)
    expect(second).toMatchObject({ created: true })
    expect(second.id).not.toBe(first.id)
  })

  it('a thousand dispatches of one key at once make a few calls each, and lose nothing', async () => {
    const { jobs, backend, record } = world()
    const calls = counting(backend, backend.store)
    const job = jobs.define('job', async (_: object) => {}).unique('k', { onConflict: 'merge' })
    const runs = await Promise.all(Array.from({ length: 1_000 }, (_, n) => job.dispatch({ [`m${n}`]: n })))
    expect(new Set(runs.map(({ id }) => id)).size).toBe(1)
    expect(Object.keys(JSON.parse((await record(runs[0] as never)).payload))).toHaveLength(1_000)
    expect(calls.count).toBeLessThanOrEqual(3_000)
  })

  it('two programs that merge at the same time lose nothing', async () => {
    const one = world()
    const two = one.other()
    const jobOf = ({ jobs }: World) => jobs.define('job', async (_: object) => {}).unique('k', { onConflict: 'merge' })
    const [here, there] = [jobOf(one), jobOf(two)]
    const runs = await Promise.all(Array.from({ length: 100 }, (_, n) => (n % 2 === 0 ? here : there).dispatch({ [`m${n}`]: n })))
    expect(Object.keys(JSON.parse((await one.record(runs[0] as never)).payload))).toHaveLength(100)
  })

  it('gives up with a word when others always come first', async () => {
    const { jobs, backend } = world()
    const job = jobs.define('job', async (_: object) => {}).unique('k', { onConflict: 'merge' })
    await job.dispatch({ a: 1 })
    backend.store.amend = async () => ['changed']
    await expect(job.dispatch({ b: 1 })).rejects.toMatchObject({ code: 'KEY_CONTENDED' })
    backend.store.amend = async () => ['amended']
    expect((await job.dispatch({ b: 1 })).created).toBe(false)
  })

  it('among many of one call, the last of each key is what waits', async () => {
    const { jobs, record } = world()
    const job = jobs.define('job', async (_: { k: string; n: number }) => {}).unique(({ k }) => k, { onConflict: 'replace' })
    const payloads = ['a', 'b', 'a', 'a', 'b'].map((k, n) => ({ k, n }))
    const runs = await job.dispatchMany(payloads)
    expect(runs.map(({ created }) => created)).toEqual([true, true, false, false, false])
    expect((await record(runs[0] as never)).payload).toBe('{"k":"a","n":3}')
    expect((await record(runs[1] as never)).payload).toBe('{"k":"b","n":4}')
  })

  it('needs a backend that can look into its queue', async () => {
    const { backend, clock } = world()
    const { store: _store, ...blind } = withMethods(backend)
    const { jobs } = worldOn(blind as never, clock)
    const job = jobs.define('job', async () => {}).unique('k', { onConflict: 'replace' })
    await expect(job.dispatch()).rejects.toMatchObject({ code: 'CAPABILITY_MISSING' })
    await expect(job.dispatchMany([undefined])).rejects.toMatchObject({ code: 'CAPABILITY_MISSING' })
  })
})

describe('a function that makes a key', () => {
  type Order = { readonly customer: { readonly id: string } }
  const customerOf = ({ customer }: Order) => customer.id
  const broken = {} as Order

  it.each<[string, (jobs: Treadle) => { dispatch(order: Order): Promise<unknown> }]>([
    ['unique', (jobs) => jobs.define('order', async (_: Order) => {}).unique(customerOf)],
    ['throttle', (jobs) => jobs.define('order', async (_: Order) => {}).throttle('1m', { key: customerOf })],
    ['group', (jobs) => jobs.define('order', async (_: Order) => {}).group(customerOf)],
    ['idempotencyKey', (jobs) => jobs.define('order', async (_: Order) => {}).idempotencyKey(customerOf)],
  ])('is named where it throws, and its payload is refused: %s', async (word, define) => {
    const { jobs, backend } = world()
    await expect(define(jobs).dispatch(broken)).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
      message: expect.stringMatching(
        new RegExp(`^Dispatch of "order": the function of ${word} threw on the payload: Cannot read`),
      ),
      cause: expect.any(TypeError),
    })
    expect(await backend.store.list({ limit: 1 })).toEqual([])
  })

  it('does not switch its protection off by giving undefined: null is no key', async () => {
    const { jobs, record } = world()
    const keys: unknown[] = [undefined, null]
    const job = jobs.define('order', async () => {}).unique(() => keys.shift() as null)
    await expect(job.dispatch({})).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message:
        'Dispatch of "order": unique must be a string of 1 to 512 characters, got undefined: its function must return null where there is no key',
    })
    expect(await record(await job.dispatch({}))).toMatchObject({ uniqueKey: null })
  })

  it('is not asked where a dispatch says that there is no key', async () => {
    const { jobs, record } = world()
    const job = jobs
      .define('order', async () => {})
      .unique('one')
      .idempotencyKey('once')
    const keys = { uniqueKey: null, idempotencyKey: null }
    expect(await record(await job.dispatch(undefined, { unique: null, idempotencyKey: null }))).toMatchObject(keys)
    expect(await record(await job.dispatch())).toMatchObject({ uniqueKey: 'one', idempotencyKey: 'once' })
  })
})

describe('a debounced job', () => {
  it('runs once, when it was quiet for its time, with the last payload', async () => {
    const { jobs, clock } = world()
    const seen: number[] = []
    const job = jobs.define('job', async (n: number) => void seen.push(n)).debounce('5s')
    const first = await job.dispatch(1)
    for (const n of [2, 3]) {
      await clock.advance(4_000)
      await jobs.run()
      expect(await job.dispatch(n)).toMatchObject({ id: first.id, created: false })
    }
    await clock.advance(4_999)
    await jobs.run()
    expect(seen).toEqual([])
    await clock.advance(1)
    await jobs.run()
    expect(seen).toEqual([3])
    expect((await job.dispatch(4)).created).toBe(true)
  })

  it('does not wait for longer than maxWait', async () => {
    const { jobs, clock, record } = world()
    const job = jobs.define('job', async (_: number) => {}).debounce('5s', { maxWait: '12s' })
    const run = await job.dispatch(0)
    const createdAt = clock.now()
    for (const [n, runAt] of [
      [1, 9_000],
      [2, 12_000],
      [3, 12_000],
    ] as const) {
      await clock.advance(4_000 - (n === 3 ? 3_000 : 0))
      await job.dispatch(n)
      expect((await record(run)).runAt - createdAt).toBe(runAt)
    }
  })

  it('has one key for all payloads, or one for each', async () => {
    const { jobs } = world()
    const all = jobs.define('all', async (_: number) => {}).debounce('5s')
    const each = jobs.define('each', async (_: number) => {}).debounce('5s', { key: (n) => (n === 0 ? null : `n:${n}`) })
    const created = async (job: typeof all) => {
      const runs = [await job.dispatch(1), await job.dispatch(2), await job.dispatch(1)]
      return runs.map((run) => run.created)
    }
    expect(await created(all)).toEqual([true, false, false])
    expect(await created(each)).toEqual([true, true, false])
    expect(await (await each.dispatch(0)).state()).toBe('ready')
  })

  it('may be one dispatch only', async () => {
    const { jobs, record } = world()
    const job = jobs.define('job', async (_: number) => {})
    const run = await job.dispatch(1, { debounce: '5s' })
    await job.dispatch(2, { debounce: { time: '5s', maxWait: '1m' } })
    expect(await record(run)).toMatchObject({ payload: '2', state: 'scheduled', uniqueKey: 'debounce' })
    expect((await job.dispatch(3, { debounce: { time: '5s', key: 'mine' } })).created).toBe(true)
    expect((await job.dispatch(4)).created).toBe(true)
  })

  it('is not put off when a schedule runs it', async () => {
    const { jobs, clock } = world()
    let runs = 0
    jobs
      .define('job', async () => void runs++)
      .debounce('5s')
      .everyMinute()
    await jobs.run()
    await clock.advance(60_000)
    await jobs.run()
    expect(runs).toBeGreaterThan(0)
  })
})

describe('a throttled job', () => {
  it('runs the first of each period at once, and the others are not stored', async () => {
    const { jobs, clock } = world()
    const seen: number[] = []
    const job = jobs.define('job', async (n: number) => void seen.push(n)).throttle('10s')
    const first = await job.dispatch(1)
    await jobs.run()
    await clock.advance(9_999)
    expect(await job.dispatch(2)).toMatchObject({ id: first.id, created: false })
    await clock.advance(1)
    expect((await job.dispatch(3)).created).toBe(true)
    await jobs.run()
    expect(seen).toEqual([1, 3])
  })

  it('counts each key for itself, also where only the dispatch says so', async () => {
    const { jobs } = world()
    const job = jobs.define('job', async (_: string) => {}).throttle('10s', { key: (who) => who })
    expect((await job.dispatch('ada')).created).toBe(true)
    expect((await job.dispatch('bob')).created).toBe(true)
    expect((await job.dispatch('ada')).created).toBe(false)
    const plain = jobs.define('plain', async () => {})
    expect((await plain.dispatch({}, { throttle: '1h' })).created).toBe(true)
    expect((await plain.dispatch({}, { throttle: { time: '1h' } })).created).toBe(false)
    expect((await plain.dispatch({}, { throttle: { time: '1h', key: 'other' } })).created).toBe(true)
  })
})

describe('what makes no sense', () => {
  const define = () => world().jobs.define('job', async () => {})

  it.each<[string, () => unknown, RegExp]>([
    ['unique and debounce', () => define().unique('k').debounce('5s'), /unique and debounce exclude each other/],
    ['throttle and unique', () => define().throttle('5s').unique('k'), /throttle and unique exclude each other/],
    ['debounce and throttle', () => define().debounce('5s').throttle('5s'), /debounce and throttle exclude each other/],
    ['an unknown time', () => define().unique('k', { until: 'soon' }), /until is 'started', 'ended' or 'ever', or it must be/],
    ['a time of nothing', () => define().unique('k', { until: 0 }), /until must be more than 0 ms/],
    [
      'an unknown conflict',
      () => define().unique('k', { onConflict: 'raise' as never }),
      /onConflict must be ignore, replace or merge/,
    ],
    ['an unknown option', () => define().unique('k', { untill: 'ended' } as never), /did you mean "until"/],
    ['a debounce of nothing', () => define().debounce(0), /debounce must be more than 0 ms/],
    ['a throttle of nothing', () => define().throttle('0s'), /throttle must be more than 0 ms/],
    [
      'a maxWait that is too short',
      () => define().debounce('5s', { maxWait: '4s' }),
      /maxWait must be at least as long as the 5000 ms/,
    ],
    ['an empty key', () => define().debounce('5s', { key: '' }), /the key of debounce must be a string/],
  ])('%s is refused at the call', (_, say, message) => {
    expect(say).toThrow(message)
  })

  it.each<[string, object, RegExp]>([
    ['two words', { unique: 'k', throttle: '5s' }, /unique and throttle exclude each other/],
    ['a debounce with a delay', { debounce: '5s', delay: '1m' }, /give no delay or at/],
    ['an empty key', { unique: { key: '' } }, /unique must be a string/],
    ['no key', { unique: { until: 'ever' } }, /unique must be a string/],
    ['an unknown option', { throttle: { time: '5s', maxWait: '1m' } }, /unknown option "maxWait"/],
    ['no time', { debounce: {} }, /debounce must be a number of milliseconds/],
  ])('%s is refused by the dispatch', async (_, options, message) => {
    await expect(define().dispatch({}, options)).rejects.toThrow(message)
  })

  it('a dispatch may say another word than its definition', async () => {
    const job = define().throttle('1h')
    await job.dispatch()
    expect((await job.dispatch({}, { unique: 'mine' })).created).toBe(true)
  })
})

function counting(backend: QueueBackend, store: JobStore): { readonly count: number } {
  const calls = { count: 0 }
  for (const [object, name] of [
    [backend, 'send'],
    [store, 'get'],
    [store, 'amend'],
  ] as const) {
    const method = (object as never as Record<string, (...args: unknown[]) => unknown>)[name]?.bind(object)
    Object.assign(object, {
      [name]: (...args: unknown[]) => {
        calls.count++
        return method?.(...args)
      },
    })
  }
  return calls
}

/** The backend as a plain object, from which parts can be left out. */
function withMethods(backend: QueueBackend): QueueBackend {
  return {
    kind: backend.kind,
    send: (envelopes) => backend.send(envelopes),
    lease: (request) => backend.lease(request),
    settle: (settlements) => backend.settle(settlements),
    begin: (tokens) => backend.begin(tokens),
    extend: (tokens, leaseMs) => backend.extend(tokens, leaseMs),
    reap: (maxRescues) => backend.reap(maxRescues),
    watch: (wake) => backend.watch(wake),
    [Symbol.asyncDispose]: () => backend[Symbol.asyncDispose](),
  }
}
