// Works on "limited" jobs, of which two may run at once over all processes, and logs each beginning and end.
import { openSync, writeSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { treadle } from 'treadle'

const { path, log } = JSON.parse(process.argv[2])
const file = openSync(log, 'a')
const jobs = treadle(`sqlite:${path}`)
jobs
  .define('limited', async (_payload, ctx) => {
    writeSync(file, `start ${ctx.id} ${process.pid}\n`)
    for (let turn = 0; turn < 20; turn++) await setImmediate()
    writeSync(file, `end ${ctx.id} ${process.pid}\n`)
  })
  .concurrency(2)
jobs.on('worker:error', ({ error }) => writeSync(2, `worker:error ${error.code} ${error.message}\n`))
writeSync(1, 'working\n')
await jobs.work({ concurrency: 5, poll: '20ms' })
await jobs.close()
