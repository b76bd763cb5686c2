// Works on jobs of which one ends the whole process, and logs each handler that begins and ends.
import { openSync, writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { treadle } from 'treadle'

const { url, key, log, concurrency } = JSON.parse(process.argv[2])
const file = openSync(log, 'a')
const jobs = treadle(url, { signingKey: key, logger: { debug() {}, info() {}, warn() {}, error() {} } })
jobs.define('innocent', async (ms, ctx) => {
  writeSync(file, `begun ${ctx.id}\n`)
  await pause(ms)
  writeSync(file, `ended ${ctx.id}\n`)
})
jobs.define('poison', async () => {
  await pause(20)
  writeSync(file, 'poison now\n')
  process.exit(7)
})
await jobs.open()
writeSync(1, 'working\n')
await jobs.work({ concurrency, lease: '1s', poll: '50ms', maxRescues: 3 })
await jobs.close()
