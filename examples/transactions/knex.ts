import knex from 'knex'
import { confirmOrder, jobs, runJobs } from './jobs.ts'

await jobs.open()
const db = knex({ client: 'pg', connection: String(process.env.DATABASE_URL) })
if (!(await db.schema.hasTable('orders'))) await db.schema.createTable('orders', (table) => table.integer('id').primary())

function placeOrder(id: number, isPaid: boolean) {
  return db.transaction(async (trx) => {
    await trx('orders').insert({ id })
    await confirmOrder.in(trx).dispatch({ id })
    if (!isPaid) throw new Error(`order ${id} is not paid`)
  })
}

await placeOrder(1, true)
await placeOrder(2, false).catch((thrown) => console.log(thrown.message)) // no order, and no job
await db.destroy()
await runJobs()
