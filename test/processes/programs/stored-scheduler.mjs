// Works and follows schedules until it is told to stop; prints each run as "ran <key> <instant>", and each occurrence that it stored.
import { writeSync } from 'node:fs'
import { treadle } from 'treadle'

const { url } = JSON.parse(process.argv[2])
const jobs = treadle(url, { signingKey: 'a secret of sixteen bytes' })
jobs.define('tick', (key, ctx) => {
  writeSync(1, `ran ${key} ${ctx.occurrence.getTime()}\n`)
})
jobs.on('schedule:enqueued', ({ schedule, at }) => writeSync(1, `enqueued ${schedule} ${at}\n`))
jobs.on('worker:error', ({ error }) => writeSync(2, `worker:error ${error.code} ${error.message}\n`))
jobs.on('worker:started', () => writeSync(1, 'ready\n'))
await jobs.work()
await jobs.close()
