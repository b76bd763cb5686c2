// Works on "traced" jobs and logs, in a file that all workers share, when each handler begins and ends.
import { openSync, writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { treadle } from 'treadle'

const { url, key, log, isolation, options } = JSON.parse(process.argv[2])
const file = openSync(log, 'a')
const jobs = treadle(url, { signingKey: key, logger: { debug() {}, info() {}, warn() {}, error() {} } })
const traced = jobs
  .define('traced', async (ms, ctx) => {
    writeSync(file, `begun ${ctx.id} ${process.pid}\n`)
    ctx.signal.addEventListener('abort', () => writeSync(file, `aborted ${ctx.id} ${process.pid}\n`))
    await pause(ms)
    writeSync(file, `ended ${ctx.id} ${process.pid}\n`)
  })
  .concurrency(3)
if (isolation !== undefined) traced.isolate(isolation)
jobs.on('job:lost', ({ id }) => writeSync(1, `lost ${id}\n`))
jobs.on('job:succeeded', ({ id }) => writeSync(file, `written ${id} ${process.pid}\n`))
await jobs.open()
writeSync(1, 'working\n')
await jobs.work(options)
await jobs.close()
