import { treadle } from 'treadle'

/** In the same database as the orders: only there can a job be part of their transactions. */
export const jobs = treadle(process.env.DATABASE_URL) // TREADLE_SIGNING_KEY signs its jobs

export const confirmOrder = jobs
  .define('confirm-order', async (order: { id: number }) => console.log(`order ${order.id} is confirmed`))
  .retries(5)
