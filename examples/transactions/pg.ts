import pg from 'pg'
import { confirmOrder, jobs, runJobs } from './jobs.ts'

await jobs.open()
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
await pool.query('CREATE TABLE IF NOT EXISTS orders (id integer PRIMARY KEY)')

async function placeOrder(id: number, isPaid: boolean) {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    await client.query('INSERT INTO orders (id) VALUES ($1)', [id])
    await confirmOrder.in(client).dispatch({ id })
    if (!isPaid) throw new Error(`order ${id} is not paid`)
    await client.query('COMMIT')
  } catch (thrown) {
    await client.query('ROLLBACK')
    throw thrown
  } finally {
    client.release()
  }
}

await placeOrder(1, true)
await placeOrder(2, false).catch((thrown) => console.log(thrown.message)) // no order, and no job
await pool.end()
await runJobs()
