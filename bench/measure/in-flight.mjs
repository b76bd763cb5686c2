import { payloads } from './payloads.mjs'
import { rateOf } from './time.mjs'

/** So many callers at once, each of which dispatches again as soon as its last dispatch is answered. */
export async function measure({ open, place, count, callers }) {
  const queue = await open(place)
  await addFromAll(queue, payloads(count / 10), callers)
  const work = payloads(count)
  const rate = await rateOf(count, () => addFromAll(queue, work, callers))
  await queue.close()
  return { rate }
}

async function addFromAll(queue, work, callers) {
  let next = 0
  const caller = async () => {
    while (next < work.length) await queue.add(work[next++])
  }
  await Promise.all(Array.from({ length: callers }, caller))
}
