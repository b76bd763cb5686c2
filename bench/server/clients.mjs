// The clients of one measurement: each has a connection, and sends its next request when the last one is answered.
import { bedrockClient } from '../../dist/client/bedrock-client.js'

const { port, connections, jobs } = JSON.parse(process.argv[2])
const clients = Array.from({ length: connections }, () => bedrockClient({ port }))
const data = { to: 'ada@example.com', subject: 'Welcome', text: 'x'.repeat(100) }
const held = clients.map(() => [])

// Not counted: the first requests of a server are its slowest.
await each(500, (client) => client.createJob({ name: 'warm-up', data }))
await each(500, async (client) => client.finishJob((await client.getJob('warm-up')).jobID))

const figures = {
  'CreateJob/s': await rate((client) => client.createJob({ name: 'SendEmail', data })),
  'GetJob/s': await rate(async (client, index) => held[index].push((await client.getJob('SendEmail')).jobID)),
  'FinishJob/s': await rate(finishNext),
}
process.send(figures)
for (const client of clients) client.close()
process.disconnect()

/** Each client ends what it was handed; one that has nothing left takes from another. */
async function finishNext(client, index) {
  const own = held[index].length > 0 ? held[index] : held.find((list) => list.length > 0)
  await client.finishJob(own.pop())
}

async function rate(call) {
  const start = performance.now()
  await each(jobs, call)
  return Math.round(jobs / ((performance.now() - start) / 1_000))
}

async function each(count, call) {
  let left = count
  await Promise.all(
    clients.map(async (client, index) => {
      while (left-- > 0) await call(client, index)
    }),
  )
}
