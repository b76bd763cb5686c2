import type { CallerTransaction, JobContext } from 'treadle'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { type Client, clientsOf, type Work } from './server-clients.ts'
import { ServerWorld, serverEngines } from './server-world.ts'

describe.each(serverEngines)('a job that ends in a transaction of its handler on %s', (engine) => {
  const world = new ServerWorld(engine)
  let names = 0

  function define<Payload>(handler: (payload: Payload, ctx: JobContext<Payload>) => unknown) {
    return world.jobs.define(`job ${++names}`, handler).delivery('effectively-once')
  }

  describe.each(Object.entries(clientsOf[engine]))('by %s', (_, open) => {
    let client: Client
    beforeAll(async () => {
      client = await open(world.ground.url)
    })
    afterAll(() => client.close())

    it('has ended when that is committed', async () => {
      const seen: unknown[] = []
      const job = define((n: number, ctx) =>
        client.transaction(async (tx, execute) => {
          await execute(`INSERT INTO orders VALUES (${n})`)
          await world.mail.in(tx).dispatch(n)
          await ctx.completeIn(tx, { n })
        }),
      ).onSuccess((result) => void seen.push(result))
      const run = await job.dispatch(5)
      expect(await world.jobs.run({ jobs: [job.job] })).toMatchObject({ succeeded: 1 })
      expect([await run.result(), seen, await world.orders()]).toEqual([{ n: 5 }, [{ n: 5 }], [5]])
      expect(await world.ground.faults()).toEqual([])
    })

    it('has not ended when that is rolled back, and is tried again', async () => {
      const job = define((_: number, ctx) =>
        client.transaction(async (tx, execute) => {
          await execute(`INSERT INTO orders VALUES (${ctx.attempt})`)
          await ctx.completeIn(tx, ctx.attempt)
          if (ctx.attempt === 1) throw new Error('no')
        }),
      ).retries(1, { strategy: 'none' })
      const run = await job.dispatch(1)
      await world.jobs.run({ jobs: [job.job] })
      expect([await run.result(), await world.orders()]).toEqual([2, [2]])
      expect(await world.ground.faults()).toEqual([])
    })
  })

  const begun: (work: Work) => Promise<void> = async (work) => {
    const { tx, query } = await world.begun()
    try {
      await work(tx as CallerTransaction, query)
      await query('COMMIT')
    } catch (thrown) {
      await query('ROLLBACK')
      throw thrown
    }
  }

  it('succeeds whatever its handler does after the commit', async () => {
    const job = define(async (_: number, ctx) => {
      await begun((tx) => ctx.completeIn(tx, 'done'))
      throw new Error('too late')
    })
    const run = await job.dispatch(1)
    expect(await world.jobs.run({ jobs: [job.job] })).toMatchObject({ succeeded: 1 })
    expect(await run.result()).toBe('done')
  })

  it('is not settled as done when its handler returns without a commit', async () => {
    const job = define(async (_: number, ctx) => {
      const { tx, query } = await world.begun()
      await ctx.completeIn(tx, 'never')
      await query('ROLLBACK')
    })
    const run = await job.dispatch(1)
    await world.jobs.run({ jobs: [job.job] })
    const error = { code: 'DELIVERY_INVALID', message: expect.stringContaining('not committed') }
    expect(await (await world.jobs.store()).get(run.id)).toMatchObject({ state: 'dead', errors: [error] })
  })

  it('can be ended by a second transaction after the first was rolled back, but not after it was committed', async () => {
    const seen: unknown[] = []
    const job = define(async (_: number, ctx) => {
      const { tx, query } = await world.begun()
      await ctx.completeIn(tx, 'first')
      await query('ROLLBACK')
      await begun((other) => ctx.completeIn(other, 'second'))
      await begun((other) => ctx.completeIn(other, 'third')).catch((thrown: unknown) => seen.push(thrown))
    })
    const run = await job.dispatch(1)
    expect(await world.jobs.run({ jobs: [job.job] })).toMatchObject({ succeeded: 1 })
    expect(await run.result()).toBe('second')
    expect(seen).toMatchObject([{ code: 'DELIVERY_INVALID' }])
  })

  it('is dead when a child of it has failed, and its handler is told before it commits', async () => {
    const child = world.jobs.define(`child ${++names}`, () => {
      throw new Error('no luck')
    })
    const job = define(async (_: number, ctx) => {
      await (await ctx.dispatchChild(child.job)).result().catch(() => {})
      await begun(async (tx, execute) => {
        await execute('INSERT INTO orders VALUES (1)')
        await ctx.completeIn(tx)
      })
    })
    const run = await job.dispatch(1)
    await world.jobs.run({ jobs: [job.job, child.job], concurrency: 2 })
    expect(await (await world.jobs.store()).get(run.id)).toMatchObject({ state: 'dead', reason: 'dependency' })
    expect(await world.ground.faults()).toEqual([])
  })

  it('is not waited for by others while its transaction is open', async () => {
    await using later = await world.ground.openAgain(new ManualClock(Date.now() + 3_600_000))
    const reports: unknown[] = []
    const job = define((_: number, ctx) =>
      begun(async (tx) => {
        await ctx.completeIn(tx)
        reports.push(await later.reap(3))
      }),
    )
    await job.dispatch(1)
    expect(await world.jobs.run({ jobs: [job.job] })).toMatchObject({ succeeded: 1 })
    expect(reports).toEqual([{ returned: 0, poisoned: 0 }])
  })

  it('is lost when another worker has it, and its handler is told before it commits', async () => {
    const seen: unknown[] = []
    const job = define(async (_: number, ctx) => {
      const owner = (await (await world.jobs.store()).get(ctx.id))?.owner as string
      await (await world.jobs.open()).reap(0, [owner])
      await begun(async (tx) => ctx.completeIn(tx)).catch((thrown: unknown) => seen.push(thrown))
    })
    await job.dispatch(1)
    expect(await world.jobs.run({ jobs: [job.job] })).toMatchObject({ lost: 4 })
    // Each time, until it is given up after a run that it had for itself.
    expect(seen).toMatchObject(Array.from({ length: 4 }, () => ({ code: 'STOPPED' })))
  })
})
