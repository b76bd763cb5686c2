import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { confirmOrder, jobs, runJobs } from './jobs.ts'

await jobs.open()
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
const db = new Kysely<{ orders: { id: number } }>({ dialect: new PostgresDialect({ pool }) })
await db.schema
  .createTable('orders')
  .ifNotExists()
  .addColumn('id', 'integer', (column) => column.primaryKey())
  .execute()

function placeOrder(id: number, isPaid: boolean) {
  return db.transaction().execute(async (trx) => {
    await trx.insertInto('orders').values({ id }).execute()
    await confirmOrder.in(trx).dispatch({ id })
    if (!isPaid) throw new Error(`order ${id} is not paid`)
  })
}

await placeOrder(1, true)
await placeOrder(2, false).catch((thrown) => console.log(thrown.message)) // no order, and no job
await db.destroy()
await runJobs()
