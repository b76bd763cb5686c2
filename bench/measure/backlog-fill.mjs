// Fills a file with jobs for a later day and with jobs that have run.
import { contestant } from '../contestants/contestant.mjs'
import { answer, argumentsOfChild, endWithParent } from '../processes.mjs'
import { payloads } from './payloads.mjs'

endWithParent()
const part = 20_000
const { folder, contestant: name, future, finished } = argumentsOfChild()
const open = await contestant(name)
const queue = await open(folder)
for (let left = finished; left > 0; left -= part) {
  const count = Math.min(part, left)
  await queue.addMany(payloads(count))
  await queue.drain(100, count)
  await queue.stop()
}
for (let left = future; left > 0; left -= part) await queue.addManyForLater(payloads(Math.min(part, left)))
await queue.close()
answer({})
