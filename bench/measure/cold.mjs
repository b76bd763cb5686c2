import { runChild } from '../processes.mjs'
import { rateOf } from './time.mjs'

/** Runs jobs that another process has sent, in a process that has run none before: what it does first is not compiled yet. */
export async function measure({ open, place, contestant, count, concurrency }) {
  await runChild('measure/backlog-fill.mjs', { place, contestant, ready: count, future: 0, finished: 0 })
  const queue = await open(place)
  const rate = await rateOf(count, () => queue.drain(concurrency, count))
  await queue.stop?.()
  await queue.close()
  return { rate }
}
