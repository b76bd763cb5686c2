import { sql } from 'drizzle-orm'
import { drizzle as drizzleMysql } from 'drizzle-orm/mysql2'
import { drizzle as drizzlePg } from 'drizzle-orm/node-postgres'
import type { PoolConnection } from 'mysql2/promise'
import type pg from 'pg'
import type { AsyncSqlTransaction, JobContext } from 'treadle'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { gate } from '../world.ts'
import { ServerWorld, serverEngines } from './server-world.ts'

describe.each(serverEngines)('an effectively-once job on %s', (engine) => {
  const world = new ServerWorld(engine)
  const placeholder = engine === 'postgres' ? '$1' : '?'
  const insert = `INSERT INTO orders (id) VALUES (${placeholder})`
  let names = 0

  /** A job of its own for each test. */
  function define<Payload>(handler: (payload: Payload, ctx: JobContext<Payload>) => unknown) {
    return world.jobs.define(`job ${++names}`, handler).delivery('effectively-once')
  }

  async function runOf(job: ReturnType<typeof define<number>>, payload = 1) {
    const run = await job.dispatch(payload)
    const report = await world.jobs.run({ jobs: [job.job] })
    return { run, report, record: await (await world.jobs.store()).get(run.id) }
  }

  it('ends with its writes, and its result is that of the transaction', async () => {
    const job = define((n: number, ctx) =>
      ctx.transaction(async (tx: AsyncSqlTransaction) => {
        const { changes } = await tx.run(insert, n)
        const row = await tx.get(`SELECT id FROM orders WHERE id = ${placeholder}`, n)
        const rows = await tx.all('SELECT id FROM orders')
        return { changes, row, rows }
      }),
    )
    const { run, report } = await runOf(job, 7)
    expect(report).toMatchObject({ succeeded: 1 })
    expect(await run.result()).toEqual({ changes: 1, row: { id: 7 }, rows: [{ id: 7 }] })
    expect(await world.orders()).toEqual([7])
    expect(await world.ground.faults()).toEqual([])
  })

  it('writes nothing when its function throws, and is tried again', async () => {
    const job = define((_: number, ctx) =>
      ctx.transaction(async (tx: AsyncSqlTransaction) => {
        await tx.run(insert, ctx.attempt)
        if (ctx.attempt === 1) throw new Error('no')
      }),
    ).retries(1, { strategy: 'none' })
    const { record } = await runOf(job)
    expect(record).toMatchObject({ state: 'succeeded', attempts: 2, errors: [{ message: 'no' }] })
    expect(await world.orders()).toEqual([2])
  })

  it('is told of its own errors as the driver has them, and its function is not called again for them', async () => {
    await world.ground.query('INSERT INTO orders VALUES (1)')
    let calls = 0
    const seen: unknown[] = []
    const job = define(async (_: number, ctx) => {
      const work = async (tx: AsyncSqlTransaction) => {
        calls++
        await tx.run(insert, 1)
      }
      await ctx.transaction(work).catch((thrown: unknown) => seen.push(thrown))
    })
    await runOf(job)
    expect(calls).toBe(1)
    expect(seen).toMatchObject([{ code: engine === 'postgres' ? '23505' : 'ER_DUP_ENTRY' }])
  })

  it('has its function called again after a deadlock, and its writes are there once', async () => {
    await world.ground.query('INSERT INTO orders VALUES (100), (200)')
    const both = [gate(), gate()]
    const calls: number[] = []
    const lock = (id: number) => `SELECT id FROM orders WHERE id = ${id} FOR UPDATE`
    const job = define((n: number, ctx) =>
      ctx.transaction(async (tx: AsyncSqlTransaction) => {
        // Called again, it first waits for the row that the other one has: two more calls cannot meet in a deadlock.
        const [own, other] = (n === 0) === calls.includes(n) ? [200, 100] : [100, 200]
        calls.push(n)
        await tx.all(lock(own))
        both[n]?.open()
        await both[1 - n]?.opened
        await tx.all(lock(other))
        await tx.run(insert, n)
      }),
    )
    await job.dispatchMany([0, 1])
    expect(await world.jobs.run({ jobs: [job.job], concurrency: 2 })).toMatchObject({ succeeded: 2 })
    expect(calls).toHaveLength(3)
    expect(await world.orders()).toEqual([0, 1, 100, 200])
  })

  it('keeps its lease while its function runs', async () => {
    const job = define((_: number, ctx) => ctx.transaction(async () => ctx.heartbeat()))
    expect(await (await runOf(job)).run.result()).toBe(true)
  })

  it('writes nothing when its lease is lost meanwhile', async () => {
    const job = define((n: number, ctx) =>
      ctx.transaction(async (tx: AsyncSqlTransaction) => {
        await tx.run(insert, n)
        const owner = (await (await world.jobs.store()).get(ctx.id))?.owner as string
        await (await world.jobs.open()).reap(0, [owner])
      }),
    )
    const { report, record } = await runOf(job)
    // It is given up when it was lost alone, and not beside others.
    expect(report).toMatchObject({ lost: 4 })
    expect([record?.state, await world.orders()]).toEqual(['dead', []])
  })

  it('is dead when a child of it has failed, and what it wrote is rolled back', async () => {
    const child = world.jobs.define(`child ${++names}`, () => {
      throw new Error('no luck')
    })
    const job = define(async (n: number, ctx) => {
      await (await ctx.dispatchChild(child.job)).result().catch(() => {})
      await ctx.transaction((tx: AsyncSqlTransaction) => tx.run(insert, n))
    })
    const run = await job.dispatch(1)
    await world.jobs.run({ jobs: [job.job, child.job], concurrency: 2 })
    expect(await (await world.jobs.store()).get(run.id)).toMatchObject({ state: 'dead', reason: 'dependency' })
    expect(await world.orders()).toEqual([])
    expect(await world.ground.faults()).toEqual([])
  })

  it('dispatches other jobs with its end, and not without it', async () => {
    const job = define((_: number, ctx) =>
      ctx.transaction(async (tx: AsyncSqlTransaction) => {
        await world.mail.in(tx).dispatch(ctx.attempt, { unique: 'next', group: 'g' })
        if (ctx.attempt === 1) throw new Error('no')
      }),
    ).retries(1, { strategy: 'none' })
    await runOf(job)
    const [next] = await (await world.jobs.store()).list({ job: 'mail', limit: 10 })
    expect(next?.payload).toBe('2')
    expect(await world.ground.faults()).toEqual([])
  })

  it('is worked on by other libraries through the connection of its transaction', async () => {
    const job = define((n: number, ctx) =>
      ctx.transaction(async (tx: AsyncSqlTransaction) => {
        const statement = sql`INSERT INTO orders (id) VALUES (${n})`
        if (engine === 'postgres') await drizzlePg({ client: tx.client as pg.PoolClient }).execute(statement)
        else await drizzleMysql({ client: tx.client as PoolConnection }).execute(statement)
        if (ctx.attempt === 1) throw new Error('no')
      }),
    ).retries(1, { strategy: 'none' })
    expect((await runOf(job)).record).toMatchObject({ state: 'succeeded', attempts: 2 })
    expect(await world.orders()).toEqual([1])
  })

  it('is refused when its function has ended the transaction by itself', async () => {
    const job = define((n: number, ctx) =>
      ctx.transaction(async (tx: AsyncSqlTransaction) => {
        await tx.run(insert, n)
        await (tx.client as { query(text: string): Promise<unknown> }).query('COMMIT')
      }),
    )
    const { record } = await runOf(job)
    expect(record).toMatchObject({ state: 'dead', errors: [{ code: 'DELIVERY_INVALID' }] })
  })

  it.skipIf(engine === 'postgres')('is kept from statements that MySQL would commit for', async () => {
    const job = define((_: number, ctx) =>
      ctx.transaction(async (tx: AsyncSqlTransaction) => {
        await tx.run(insert, 1)
        await tx.run('/* quietly */ CREATE TABLE other (id INT)')
      }),
    )
    const { record } = await runOf(job)
    expect(record).toMatchObject({ state: 'dead', errors: [{ code: 'DELIVERY_INVALID' }] })
    expect(await world.orders()).toEqual([])
  })

  it('fails by a statement that its function did not wait for', async () => {
    const job = define((_: number, ctx) =>
      ctx.transaction(async (tx: AsyncSqlTransaction) => {
        void tx.run('INSERT INTO nowhere VALUES (1)').catch(() => {})
        void tx.run(insert, 1).catch(() => {})
      }),
    )
    const { record } = await runOf(job)
    expect(record).toMatchObject({ state: 'dead', errors: [{ message: expect.stringMatching(/nowhere/) }] })
    expect(await world.orders()).toEqual([])
  })

  it('checks its result before the commit, with a schema that takes its time', async () => {
    const output = z.number().refine(async (n) => n > 1)
    const job = world.jobs
      .define(`job ${++names}`, { output }, (n: number, ctx) =>
        ctx.transaction(async (tx: AsyncSqlTransaction) => {
          await tx.run(insert, n)
          return n
        }),
      )
      .delivery('effectively-once')
    await job.dispatchMany([1, 2])
    await world.jobs.run({ jobs: [job.job] })
    expect(await world.orders()).toEqual([2])
  })
})
