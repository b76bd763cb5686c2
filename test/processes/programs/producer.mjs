// Dispatches so many "count" jobs, half of them one by one and at the same time, half in bulk.
import { treadle } from 'treadle'

const { path, count } = JSON.parse(process.argv[2])
const jobs = treadle(`sqlite:${path}`)
const job = jobs.declare('count')
const half = count / 2
const payloads = Array.from({ length: half }, (_, number) => ({ number }))
for (let from = 0; from < half; from += 1_000) {
  const part = payloads.slice(from, from + 1_000)
  await Promise.all(part.map((payload) => job.dispatch(payload)))
  await job.dispatchMany(part)
}
await jobs.close()
