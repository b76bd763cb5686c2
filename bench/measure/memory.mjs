import { setImmediate as nextTurn } from 'node:timers/promises'
import { payloads } from './payloads.mjs'

const mebibyte = 1024 * 1024
const listLength = 5_000

/** What is left on the heap after each step of so many jobs through one worker, and how much that grows from step to step. */
export async function measure({ open, place, steps, jobsPerStep }) {
  let run = 0
  let waiting = { until: Number.POSITIVE_INFINITY, resolve: () => {} }
  const queue = await open(place, async () => {
    if (++run >= waiting.until) waiting.resolve()
  })
  queue.work()
  const heapMb = []
  const rssMb = []
  for (let step = 1; step <= steps; step++) {
    for (let sent = 0; sent < jobsPerStep; sent += listLength) {
      const ran = new Promise((resolve) => {
        waiting = { until: run + listLength, resolve }
      })
      await queue.addMany(payloads(listLength))
      await ran
    }
    while ((await queue.unfinished()) > 0) await nextTurn()
    await collectGarbage()
    const { heapUsed, rss } = process.memoryUsage()
    heapMb.push(heapUsed / mebibyte)
    rssMb.push(rss / mebibyte)
  }
  await queue.close()
  return { heapMb, rssMb, growthMb: growthPerStep(heapMb) }
}

// A second collection frees what the first one's finalizers let go of.
async function collectGarbage() {
  for (let round = 0; round < 2; round++) {
    globalThis.gc()
    await nextTurn()
  }
}

/** From the first step on, which is where the caches are full and the code is compiled. */
function growthPerStep(amounts) {
  return (amounts.at(-1) - amounts[0]) / (amounts.length - 1)
}
