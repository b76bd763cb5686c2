import { runChild } from '../processes.mjs'
import { payloads } from './payloads.mjs'
import { median } from './statistics.mjs'
import { rateOf } from './time.mjs'

/** Where the jobs stand that are drained, seen from those of the backlog. */
const positions = {
  rate: { title: 'among them' },
  ahead: { title: 'before them', options: { priority: 'high' } },
  elsewhere: { title: 'in another queue', options: { queue: 'elsewhere' }, queues: ['elsewhere'] },
}

/** The rates of draining beside so many jobs that wait, are not due or have ended, one for each position. */
export async function measure({ open, place, contestant, count, passes, concurrency, ready, future, finished, at }) {
  // In a process of its own: this one must be as fresh as one with an empty queue.
  if (ready + future + finished > 0) await runChild('measure/backlog-fill.mjs', { place, contestant, ready, future, finished })
  const queue = await open(place)
  const rates = Object.fromEntries(at.map((position) => [position, []]))
  for (const position of at) await drainAt(queue, positions[position], count / 4, concurrency)
  for (let pass = 0; pass < passes; pass++) {
    for (const position of at) rates[position].push(await drainAt(queue, positions[position], count, concurrency))
  }
  await queue.close()
  return Object.fromEntries(at.map((position) => [position, median(rates[position])]))
}

async function drainAt(queue, { options, queues }, count, concurrency) {
  await queue.addMany(payloads(count), options)
  const rate = await rateOf(count, () => queue.drain(concurrency, count, queues))
  await queue.stop()
  return rate
}
