import { bigCustomer } from '../contestants/treadle-groups.mjs'
import { median } from './statistics.mjs'
import { rateOf } from './time.mjs'

const part = 20_000

/** The rate at which the jobs of small customers are done while so many of a big one wait, whose only slot is taken. */
export async function measure({ open, place, waiting, customers, jobsEach, passes, concurrency }) {
  const queue = await open(place)
  for (let left = waiting; left > 0; left -= part) {
    await queue.addMany(Array.from({ length: Math.min(part, left) }, () => ({ customer: bigCustomer })))
  }
  const count = customers * jobsEach
  const rates = []
  for (let pass = 0; pass <= passes; pass++) {
    await queue.addMany(Array.from({ length: count }, (_, number) => ({ customer: `customer-${number % customers}` })))
    const rate = await rateOf(count, () => queue.drain(concurrency, count))
    await queue.stop()
    // The first pass warms up.
    if (pass > 0) rates.push(rate)
  }
  await queue.close()
  return { rate: median(rates) }
}
