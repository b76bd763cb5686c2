import { describe, expect, it } from 'vitest'
import { gate, until, world } from '../world.ts'

const failing = () => {
  throw new Error('it broke')
}

describe('a workflow that is known by its id', () => {
  it('has a handle: its state, progress, tree and results', async () => {
    const { jobs } = world()
    const add = jobs.define('add', (n: number) => n + 1)
    const { id } = await jobs.batch([add.step(1), add.step(2)], { onSuccess: add.step(3) })
    const handle = jobs.handle(id)
    expect([await handle.state(), await handle.progress()]).toEqual(['ready', 0])
    await jobs.run()
    expect(await handle.result()).toEqual([2, 3, 4])
    expect([await handle.state(), await handle.progress(), (await handle.tree()).total]).toEqual(['succeeded', 1, 3])
  })

  it('is waited for while it runs', async () => {
    const { jobs, clock } = world()
    const held = gate()
    const job = jobs.define('held', () => held.opened)
    const { id } = await jobs.chain([job.step(), job.step()])
    const working = jobs.run()
    const handle = jobs.handle(id)
    await until(async () => (await handle.state()) === 'running')
    const result = handle.result()
    held.open()
    await working
    await clock.advance(60_000)
    expect(await result).toEqual([undefined, undefined])
  })

  it('has failed where one of its jobs did', async () => {
    const { jobs } = world()
    const job = jobs.define('bad', failing)
    const { id } = await jobs.chain([job.step(), job.step()])
    await jobs.run()
    const handle = jobs.handle(id)
    expect(await handle.state()).toBe('dead')
    await expect(handle.result()).rejects.toMatchObject({
      code: 'RUN_FAILED',
      message: expect.stringContaining('2 of its 2 jobs'),
    })
  })

  it('is cancelled as a whole', async () => {
    const { jobs } = world()
    const job = jobs.define('add', () => {})
    const { id } = await jobs.chain([job.step(), job.step()])
    expect(await jobs.handle(id).cancel()).toBe(true)
    expect([await jobs.handle(id).state(), await jobs.handle(id).cancel()]).toEqual(['cancelled', false])
  })

  it('says why it has not ended: what the rest of it waits for', async () => {
    const { jobs } = world()
    const add = jobs.define('add', () => {})
    const { id } = await jobs.chain([add.step(null, { delay: '1h' }), add.step()])
    expect(await jobs.why(id)).toMatchObject({
      id,
      state: 'scheduled',
      reasons: [{ rule: 'future', message: expect.stringMatching(/^"add" \S+: it is due in 1h/) }, { rule: 'no-worker' }],
    })
    await jobs.handle(id).cancel()
    expect(await jobs.why(id)).toMatchObject({ state: 'cancelled', reasons: [{ rule: 'ended' }] })
  })

  it('that does not exist is told', async () => {
    const { jobs } = world()
    const nobody = '00000000-0000-7000-8000-000000000000'
    await expect(jobs.handle(nobody).state()).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
    await expect(jobs.handle(nobody).cancel()).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
    await expect(jobs.why(nobody)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
  })

  it('a running batch is added to by one of its jobs: its callbacks wait for that too', async () => {
    const { jobs } = world()
    const order: string[] = []
    const note = jobs.define('note', (what: string) => void order.push(what))
    const page = jobs.define('page', async (_: unknown, ctx) => {
      await ctx.dispatchChild(note, 'found on the way', { delay: '1m' })
    })
    const batch = await jobs.batch([page.step()], { onSuccess: note.step('all is done') })
    await jobs.run()
    expect(order).toEqual([])
    const [child] = await (await jobs.store()).list({ root: batch.id, job: 'note', state: 'scheduled', limit: 1 })
    await jobs.handle((child as { id: string }).id).reschedule(0)
    await jobs.run()
    expect(order).toEqual(['found on the way', 'all is done'])
  })
})

describe('the options of a step', () => {
  it.each([
    ['queue', { queue: 'slow' }, { queue: 'slow' }],
    ['priority', { priority: 'high' }, { priority: 10 }],
    ['retries', { retries: 4 }, { maxRetries: 4 }],
    ['timeout', { timeout: '9s' }, { timeoutMs: 9_000 }],
    ['group', { group: 'acme' }, { group: 'acme' }],
    ['unique', { unique: 'one' }, { uniqueKey: 'one' }],
    ['throttle', { throttle: '1m' }, { uniqueKey: 'throttle' }],
    ['idempotencyKey', { idempotencyKey: 'k' }, { idempotencyKey: 'k' }],
    ['meta', { meta: { a: 1 } }, { meta: { a: 1 } }],
    ['delay', { delay: '1h' }, { state: 'scheduled' }],
    ['at', { at: '2030-01-01T00:00:00Z' }, { runAt: Date.UTC(2030, 0, 1) }],
  ] as const)('%s counts', async (_, options, expected) => {
    const { jobs, record } = world()
    const job = jobs.define('add', () => {})
    const { runs } = await jobs.chain([job.step(null, options), job.step()])
    expect(await record(runs[0] as { id: string })).toMatchObject(expected)
  })

  it('dependsOn and waitAtMost count', async () => {
    const { jobs, record } = world()
    const job = jobs.define('add', () => {})
    const before = await job.delay('1h').dispatch()
    const { runs } = await jobs.chain([job.step(null, { dependsOn: before, waitAtMost: '1d' })])
    expect((await record(runs[0] as { id: string })).state).toBe('blocked')
  })

  it.each([
    ['debounce', { debounce: '1m' }],
    ['onConflict', { unique: { key: 'one', onConflict: 'replace' } }],
    ['a transaction of its own', { in: {} }],
    ['what is no option', { retrys: 2 }],
  ] as const)('%s is refused', async (_, options) => {
    const { jobs } = world()
    const job = jobs.define('add', () => {})
    await expect(jobs.chain([job.step(null, options as never)])).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })
})
