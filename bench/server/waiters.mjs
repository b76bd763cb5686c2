// Many clients that wait for a job each, and as many jobs: how long from the request that creates a job to the reply that hands it out.
import { bedrockClient } from '../../dist/client/index.js'
import { percentile } from '../measure/statistics.mjs'

const { port, waiters } = JSON.parse(process.argv[2])
const producers = Array.from({ length: 8 }, () => bedrockClient({ port }))
const clients = Array.from({ length: waiters }, () => bedrockClient({ port }))
// Whoever has been answered once has its connection, and waits from its next request on.
await Promise.all([...producers, ...clients].map((client) => client.ping()))
const answers = clients.map(async (client) => {
  const { jobID } = await client.getJob('Wake', { wait: '5m' })
  return { jobID, at: performance.now() }
})

const sentAt = new Map()
let left = waiters
const start = performance.now()
await Promise.all(
  producers.map(async (producer) => {
    while (left-- > 0) {
      const at = performance.now()
      sentAt.set(await producer.createJob({ name: 'Wake' }), at)
    }
  }),
)
const received = await Promise.all(answers)
const wholeMs = performance.now() - start
const latencies = received.map(({ jobID, at }) => at - sentAt.get(jobID)).sort((a, b) => a - b)
process.send({
  waiters,
  jobs: new Set(received.map(({ jobID }) => jobID)).size,
  'jobs/s': Math.round((waiters / wholeMs) * 1_000),
  'p50 ms': rounded(percentile(latencies, 50)),
  'p99 ms': rounded(percentile(latencies, 99)),
  'longest ms': rounded(latencies.at(-1)),
})
for (const client of [...producers, ...clients]) client.close()
process.disconnect()

function rounded(ms) {
  return Number(ms.toFixed(2))
}
