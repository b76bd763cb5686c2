// Follows a schedule of every second until it is told to stop; prints the occurrences that this process stored.
import { writeSync } from 'node:fs'
import { treadle } from 'treadle'

const { path } = JSON.parse(process.argv[2])
const jobs = treadle(`sqlite:${path}`)
jobs
  .define('tick', () => {})
  .everySecond()
  .overlap('allow')
jobs.on('schedule:enqueued', ({ at }) => writeSync(1, `enqueued ${at}\n`))
jobs.on('worker:error', ({ error }) => writeSync(2, `worker:error ${error.code} ${error.message}\n`))
await jobs.work()
await jobs.close()
