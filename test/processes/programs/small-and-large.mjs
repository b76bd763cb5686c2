// Sends a few jobs at once and many at once, runs them all, and closes.
import { writeSync } from 'node:fs'

const { path, library = 'treadle', small, large } = JSON.parse(process.argv[2])
const { treadle } = await import(library)
const jobs = treadle(`sqlite:${path}`)
const ran = []
const job = jobs.define('count', (payload) => void ran.push(payload))
for (let number = 0; number < small; number++) await job.dispatch(number)
await job.dispatchMany(Array.from({ length: large }, (_, index) => small + index))
const report = await jobs.run()
const inOrder = ran.every((payload, index) => payload === index)
writeSync(1, `ran ${JSON.stringify({ runs: ran.length, succeeded: report.succeeded, inOrder })}\n`)
await jobs.close()
