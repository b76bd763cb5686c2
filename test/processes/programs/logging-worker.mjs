// Works on "count" jobs and writes a line for each run. With `hangAt`, that run never ends while the others go on.
import { openSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { treadle } from 'treadle'

const { path, log, lease, hangAt } = JSON.parse(process.argv[2])
const file = openSync(log, 'a')
const jobs = treadle(`sqlite:${path}`)
let runs = 0

jobs.define('count', async (_payload, ctx) => {
  writeSync(file, `${ctx.id} ${process.pid}\n`)
  runs++
  if (runs === hangAt) {
    writeSync(1, 'hanging\n')
    await new Promise(() => {})
  }
  await sleep(1)
})
jobs.on('worker:error', ({ error }) => writeSync(2, `worker:error ${error.code} ${error.message}\n`))

writeSync(1, 'working\n')
const report = await jobs.work({ concurrency: 20, lease })
writeSync(1, `report ${JSON.stringify(report)}\n`)
await jobs.close()
