import { payloads } from './payloads.mjs'
import { rateOf } from './time.mjs'

/** Lists of jobs, one call for each list. */
export async function measure({ open, place, count, listLength }) {
  const queue = await open(place)
  await queue.addMany(payloads(listLength))
  const lists = Array.from({ length: count / listLength }, () => payloads(listLength))
  const rate = await rateOf(count, async () => {
    for (const list of lists) await queue.addMany(list)
  })
  await queue.close()
  return { rate }
}
