import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { integer, pgTable } from 'drizzle-orm/pg-core'
import pg from 'pg'
import { fromDrizzle } from 'treadle/transactions'
import { confirmOrder, jobs, runJobs } from './jobs.ts'

await jobs.open()
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
const db = drizzle(pool)
const orders = pgTable('orders', { id: integer('id').primaryKey() })
await db.execute(sql`CREATE TABLE IF NOT EXISTS orders (id integer PRIMARY KEY)`)

function placeOrder(id: number, isPaid: boolean) {
  return db.transaction(async (tx) => {
    await tx.insert(orders).values({ id })
    await confirmOrder.in(fromDrizzle(tx, sql)).dispatch({ id })
    if (!isPaid) throw new Error(`order ${id} is not paid`)
  })
}

await placeOrder(1, true)
await placeOrder(2, false).catch((thrown) => console.log(thrown.message)) // no order, and no job
await pool.end()
await runJobs()
