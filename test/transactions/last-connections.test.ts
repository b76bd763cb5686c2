import { createPool } from 'mysql2/promise'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Treadle, treadle } from '../../src/app/treadle.ts'
import { openMysql } from '../../src/engines/mysql/index.ts'
import { openPostgres } from '../../src/engines/postgres/index.ts'
import { type FreshDatabase, freshDatabase, type SqlEngine } from '../services.ts'
import { serverEngines } from './server-world.ts'

const atOnce = 3

interface Client {
  query(sql: string): Promise<unknown>
  release(): void
}

describe.each(serverEngines)('whoever has the last connection of a pool on %s', (engine) => {
  test('can dispatch in its transaction, also what was never dispatched before', async () => {
    const { jobs, connect } = await sharedPool(engine)
    const first = jobs.declare('first')
    const inTransactions = (word: 'COMMIT' | 'ROLLBACK', priority: number) => {
      let begun = 0
      let go = () => {}
      const all = new Promise<void>((resolve) => {
        go = resolve
      })
      return Promise.all(
        Array.from({ length: atOnce }, async () => {
          const client = await connect()
          await client.query('BEGIN')
          if (++begun === atOnce) go()
          await all
          const run = await first.in(client as never).dispatch(1, { priority })
          await client.query(word)
          client.release()
          return run.created
        }),
      )
    }
    const priorities = async () => (await (await jobs.store()).list({ limit: 100 })).map(({ priority }) => priority).sort()
    const isAll = Array.from({ length: atOnce }, () => true)
    expect(await inTransactions('ROLLBACK', 7)).toEqual(isAll)
    expect(await inTransactions('COMMIT', 8)).toEqual(isAll)
    await first.dispatch(2, { priority: 7 })
    expect(await inTransactions('COMMIT', 7)).toEqual(isAll)
    expect(await priorities()).toEqual([7, 7, 7, 7, 8, 8, 8])
  })

  test('dispatches from its handlers, more of which run than there are connections', async () => {
    const database = await fresh(engine)
    const url = new URL(database.url)
    url.searchParams.set('connections', '2')
    const jobs = treadle(url.href, { unsigned: true })
    onTestFinished(() => jobs.close())
    const receipt = jobs.define('receipt', async () => {})
    const pay = jobs
      .define('pay', (order: number, ctx) =>
        ctx.transaction(async (tx) => {
          await tx.run('SELECT 1')
          await receipt.in(tx).dispatch(order)
          return 'paid'
        }),
      )
      .delivery('effectively-once')
    await pay.dispatchMany([1, 2, 3, 4, 5, 6, 7, 8])
    const report = await jobs.run({ concurrency: 8 })
    expect(report).toMatchObject({ succeeded: 16, retried: 0, dead: 0 })
  })
})

async function fresh(engine: SqlEngine): Promise<FreshDatabase> {
  const database = await freshDatabase(engine)
  onTestFinished(() => database.dispose())
  return database
}

/** A queue and a program that have three connections together. */
async function sharedPool(engine: SqlEngine): Promise<{ readonly jobs: Treadle; readonly connect: () => Promise<Client> }> {
  const { url } = await fresh(engine)
  if (engine === 'postgres') {
    const pool = new pg.Pool({ connectionString: url, max: atOnce })
    onTestFinished(() => pool.end())
    return { jobs: await queueOn(openPostgres({ pool })), connect: () => pool.connect() }
  }
  const pool = createPool({ uri: url, connectionLimit: atOnce, multipleStatements: true })
  onTestFinished(() => pool.end())
  return { jobs: await queueOn(openMysql({ pool })), connect: () => pool.getConnection() }
}

async function queueOn(opening: ReturnType<typeof openPostgres>): Promise<Treadle> {
  const backend = await opening
  const jobs = treadle({ backend, unsigned: true })
  onTestFinished(async () => {
    await jobs.close()
    await backend[Symbol.asyncDispose]()
  })
  await jobs.open()
  return jobs
}
