import { payloads } from './payloads.mjs'
import { rateOf } from './time.mjs'

/** Runs jobs that wait already, from the start of the workers until the last job is recorded as done. */
export async function measure({ open, place, count, concurrency }) {
  const queue = await open(place)
  await drainOnce(queue, count / 4, concurrency)
  const rate = await drainOnce(queue, count, concurrency)
  await queue.close()
  return { rate }
}

export async function drainOnce(queue, count, concurrency) {
  await queue.addMany(payloads(count))
  const rate = await rateOf(count, () => queue.drain(concurrency, count))
  await queue.stop?.()
  return rate
}
