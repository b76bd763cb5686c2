import { runChild } from '../processes.mjs'
import { drainOnce } from './drain.mjs'
import { median } from './statistics.mjs'

/** The rate of draining with so many jobs in the file that are not due or have ended. */
export async function measure({ open, folder, contestant, count, passes, concurrency, future, finished }) {
  // In a process of its own: this one must be as fresh as one with an empty file.
  if (future + finished > 0) await runChild('measure/backlog-fill.mjs', { folder, contestant, future, finished })
  const queue = await open(folder)
  await drainOnce(queue, count / 4, concurrency)
  const rates = []
  for (let pass = 0; pass < passes; pass++) rates.push(await drainOnce(queue, count, concurrency))
  await queue.close()
  return { rate: median(rates) }
}
