import { payloads } from './payloads.mjs'
import { rateOf } from './time.mjs'

/** Each dispatch waits for the one before it. */
export async function measure({ open, place, count }) {
  const queue = await open(place)
  await addEach(queue, payloads(count / 10))
  const work = payloads(count)
  const rate = await rateOf(count, () => addEach(queue, work))
  await queue.close()
  return { rate }
}

async function addEach(queue, work) {
  for (const payload of work) await queue.add(payload)
}
