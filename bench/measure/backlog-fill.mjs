// Fills a queue with jobs that wait, with jobs for a later day, and with jobs that have run.
import { contestant } from '../contestants/contestant.mjs'
import { answer, argumentsOfChild, endWithParent } from '../processes.mjs'
import { payloads } from './payloads.mjs'

endWithParent()
const part = 20_000
const { place, contestant: name, ready, future, finished } = argumentsOfChild()
const open = await contestant(name)
const queue = await open(place)
await inParts(finished, async (count) => {
  await queue.addMany(payloads(count))
  await queue.drain(100, count)
  await queue.stop()
})
await inParts(future, (count) => queue.addMany(payloads(count), { delay: '7d' }))
await inParts(ready, (count) => queue.addMany(payloads(count)))
await queue.close()
answer({})

async function inParts(total, work) {
  for (let left = total; left > 0; left -= part) await work(Math.min(part, left))
}
