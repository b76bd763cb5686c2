import { describe, expect, it } from 'vitest'
import { nextTurn } from '../../src/core/time/clock.ts'
import { ServerWorld, serverEngines } from './server-world.ts'

/** Where it is not a serialization failure to see what is new. */
const meetings = serverEngines.flatMap((engine) => {
  const levels = engine === 'postgres' ? ['READ COMMITTED'] : ['READ COMMITTED', 'REPEATABLE READ']
  return levels.map((isolation) => [engine, isolation] as const)
})

// In tables of their own: where a key was held a moment ago, MySQL still has places for it that it locks together with others.
describe.each(meetings)('transactions of callers that meet on %s, %s', (engine, isolation) => {
  const world = new ServerWorld(engine)

  it('the second with a unique key is told of the first when that is committed', async () => {
    const [first, second] = [await world.begun(isolation), await world.begun(isolation)]
    const { mail } = world
    for (const options of [{ unique: 'k' }, { throttle: { key: 't', time: '1h' } }, { unique: 'l' }] as const) {
      const run = await mail.in(first.tx).dispatch(1, options)
      const waiting = mail.in(second.tx).dispatch(2, options)
      await first.query('COMMIT')
      expect(await waiting).toMatchObject({ id: run.id, created: false })
      await first.query('BEGIN')
    }
    // What the second was told keeps no other key from anybody.
    for (const key of ['a', 'b', 'c', 'd']) expect((await mail.in(first.tx).dispatch(1, { unique: key })).created).toBe(true)
    await first.query('COMMIT')
    await second.query('COMMIT')
    expect(await world.ground.faults()).toEqual([])
  })
})

describe.each(serverEngines)('transactions of callers that meet on %s', (engine) => {
  const world = new ServerWorld(engine)

  it('the second with a unique key waits for the first, and has the key when that is rolled back', async () => {
    const [first, second] = [await world.begun(), await world.begun()]
    const { mail } = world
    expect((await mail.in(first.tx).dispatch(1, { unique: 'k' })).created).toBe(true)
    let isAnswered = false
    const waiting = mail.in(second.tx).dispatch(2, { unique: 'k' })
    void waiting.then(() => {
      isAnswered = true
    })
    for (let turn = 0; turn < 50; turn++) await nextTurn()
    expect(isAnswered).toBe(false)
    await first.query('ROLLBACK')
    expect((await waiting).created).toBe(true)
    await second.query('COMMIT')
    expect(await world.states()).toEqual(['ready'])
    expect(await world.ground.faults()).toEqual([])
  })

  it('takes a key again that it has freed itself', async () => {
    const { jobs } = world
    const seen: unknown[] = []
    const again = jobs
      .define('again', async (n: number, ctx) => {
        if (n > 1) return
        const { tx, query } = await world.begun()
        await ctx.completeIn(tx)
        seen.push((await again.in(tx).dispatch(n + 1, { unique: 'k' })).created)
        await query('COMMIT')
      })
      .delivery('effectively-once')
    await again.dispatch(1, { unique: 'k' })
    await jobs.run({ jobs: ['again'] })
    expect(seen).toEqual([true])
    expect(await world.states()).toEqual(['succeeded', 'succeeded'])
    expect(await world.ground.faults()).toEqual([])
  })

  it('those of handlers take turns with a key, however many there are', async () => {
    const { jobs, mail } = world
    const created: boolean[] = []
    const sharing = jobs
      .define('sharing', (_: number, ctx) =>
        ctx.transaction(async (tx) => {
          created.push((await mail.in(tx).dispatch(1, { unique: 'k' })).created)
        }),
      )
      .delivery('effectively-once')
    await sharing.dispatchMany([...Array(20).keys()])
    expect(await jobs.run({ jobs: ['sharing'], concurrency: 20 })).toMatchObject({ succeeded: 20 })
    expect(created.filter((isNew) => isNew)).toEqual([true])
    expect(await world.ground.faults()).toEqual([])
  })

  it('claims of a group go on while a transaction holds jobs of it', async () => {
    const { jobs } = world
    const seen: number[] = []
    const grouped = jobs.define('grouped', async (n: number) => void seen.push(n))
    await grouped.dispatchMany([1, 2], { group: 'a' })
    const { tx, query } = await world.begun()
    await grouped.in(tx).dispatch(3, { group: 'a' })
    await jobs.run({ jobs: ['grouped'] })
    expect(seen).toEqual([1, 2])
    await query('COMMIT')
    await jobs.run({ jobs: ['grouped'] })
    expect(seen).toEqual([1, 2, 3])
    expect(await world.ground.faults()).toEqual([])
  })

  it('a connection without a transaction is refused, and nothing is stored', async () => {
    const { tx } = await world.connect()
    const refusal = { code: 'TRANSACTION_INVALID', message: expect.stringMatching(/in no transaction.*has `await`/) }
    for (const options of [{}, { unique: 'k' }, { group: 'g' }]) {
      await expect(world.mail.in(tx).dispatch(1, options)).rejects.toMatchObject(refusal)
    }
    expect(await world.states()).toEqual([])
    expect(await world.ground.faults()).toEqual([])
  })

  it('a deadlock between callers is the caller’s to do again, and leaves counts right', async () => {
    const [first, second] = [await world.begun(), await world.begun()]
    const { mail } = world
    await mail.in(first.tx).dispatch(1, { unique: 'a' })
    await mail.in(second.tx).dispatch(2, { unique: 'b' })
    const crossing = [
      { caller: first, dispatch: mail.in(first.tx).dispatch(3, { unique: 'b' }) },
      { caller: second, dispatch: mail.in(second.tx).dispatch(4, { unique: 'a' }) },
    ]
    const ended = crossing.map(async ({ caller, dispatch }) => {
      const failure = await dispatch.then(
        () => null,
        (thrown: unknown) => thrown,
      )
      await caller.query(failure === null ? 'COMMIT' : 'ROLLBACK')
      return failure
    })
    const failures = (await Promise.all(ended)).filter((failure) => failure !== null)
    expect(failures).toMatchObject([{ code: 'DATABASE_FAILED', message: expect.stringMatching(/deadlock/i) }])
    expect(await world.states()).toEqual(['ready', 'ready'])
    expect(await world.ground.faults()).toEqual([])
  })

  it.skipIf(engine === 'postgres')('sees keys that were taken after its snapshot, and changes who holds them', async () => {
    const { mail, jobs } = world
    const { tx, query } = await world.begun('REPEATABLE READ')
    await query('SELECT * FROM orders')
    await query('SELECT COUNT(*) FROM treadle_jobs')
    const merging = { key: 'm', onConflict: 'merge' } as const
    const holders = [
      await mail.dispatch({ a: 1 }, { unique: 'k' }),
      await mail.dispatch({ a: 1 }, { throttle: { key: 't', time: '1h' } }),
      await mail.dispatch({ a: 1 }, { unique: merging }),
    ]
    const found = [
      await mail.in(tx).dispatch({ b: 2 }, { unique: 'k' }),
      await mail.in(tx).dispatch({ b: 2 }, { throttle: { key: 't', time: '1h' } }),
      await mail.in(tx).dispatch({ b: 2 }, { unique: merging }),
    ]
    await query('COMMIT')
    expect(found.map(({ id, created }) => [id, created])).toEqual(holders.map(({ id }) => [id, false]))
    expect((await (await jobs.store()).get(holders[2]?.id as string))?.payload).toBe('{"a":1,"b":2}')
    expect(await world.ground.faults()).toEqual([])
  })

  it.skipIf(engine !== 'postgres')('a serialization failure is the caller’s to do again', async () => {
    const { tx, query } = await world.begun('REPEATABLE READ')
    await query('SELECT * FROM orders')
    await world.mail.dispatch(1, { unique: 'k' })
    const dispatch = world.mail.in(tx).dispatch(2, { unique: 'k' })
    await expect(dispatch).rejects.toMatchObject({ code: 'DATABASE_FAILED', cause: { code: '40001' } })
    // What is not the queue's goes on.
    await query('INSERT INTO orders VALUES (1)')
    await query('COMMIT')
    expect(await world.orders()).toEqual([1])
  })
})
