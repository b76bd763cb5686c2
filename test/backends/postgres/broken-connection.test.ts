import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { WorkTransaction } from '../../../src/definition/transactions/sql-transaction.ts'
import { openPostgres } from '../../../src/engines/postgres/index.ts'
import { Bench } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { type FreshDatabase, freshDatabase } from '../../services.ts'

describe('a transaction of a handler that PostgreSQL ends', () => {
  let database: FreshDatabase
  let admin: pg.Client
  let queue: Bench
  beforeAll(async () => {
    database = await freshDatabase('postgres')
    admin = new pg.Client({ connectionString: database.url })
    await admin.connect()
    const clock = new ManualClock()
    queue = new Bench(await openPostgres({ url: database.url, clock, notify: false }), clock)
  })
  afterAll(async () => {
    await queue.backend[Symbol.asyncDispose]()
    await admin.end()
    await database.dispose()
  })
  let token: string
  beforeEach(async () => {
    await queue.sendOne()
    token = (await queue.claimOne()).token
  })

  test('tells why when the handler goes on', async () => {
    const completing = complete(async (tx) => {
      await ended(tx)
      await tx.run('SELECT 1')
    })
    await expect(completing).rejects.toThrow('terminating connection due to administrator command')
  })

  test('tells why when the handler has nothing more to say', async () => {
    await expect(complete(ended)).rejects.toMatchObject({
      code: 'DATABASE_UNREACHABLE',
      message: 'PostgreSQL cannot be reached: terminating connection due to administrator command',
    })
  })

  function complete(work: (tx: WorkTransaction) => Promise<void>) {
    return queue.backend.transactions?.complete(token, async (tx) => {
      await work(tx)
      return { token, kind: 'done', result: null, keep: true }
    })
  }

  /** As a server does with one that idles in it for too long. */
  async function ended(tx: WorkTransaction): Promise<void> {
    const client = tx.client as pg.Client
    const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
    const isTold = new Promise((resolve) => client.once('end', resolve))
    await admin.query('SELECT pg_terminate_backend($1)', [rows[0].pid])
    await isTold
  }
})
