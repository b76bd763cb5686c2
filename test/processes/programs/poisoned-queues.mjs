// Works on one or more queues in one process, on jobs of which some end the whole process, and logs each handler that begins.
import { openSync, writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { treadle } from 'treadle'

const { urls, key, log, concurrency, maxRescues } = JSON.parse(process.argv[2])
const file = openSync(log, 'a')
// Whoever started it is gone.
process.stdin.resume().on('end', () => process.exit(1))
const deaths = {
  exit: () => process.exit(7),
  kill: () => process.kill(process.pid, 'SIGKILL'),
  throw: () => setImmediate(thrown),
}
function thrown() {
  throw new Error('nobody catches this')
}

const instances = urls.map((url) => {
  const jobs = treadle(url, { signingKey: key, logger: { debug() {}, info() {}, warn() {}, error() {} } })
  jobs.define('innocent', async (ms, ctx) => {
    writeSync(file, `begun ${ctx.id} ${ctx.rescues ?? ''}\n`)
    if (ms > 0) await pause(ms)
  })
  jobs.define('poison', async ({ ms, death }, ctx) => {
    writeSync(file, `poison ${ctx.id}\n`)
    if (ms > 0) await pause(ms)
    deaths[death]()
    await pause(60_000)
  })
  return jobs
})
await Promise.all(instances.map((jobs) => jobs.open()))
writeSync(1, 'working\n')
await Promise.all(instances.map((jobs) => jobs.work({ concurrency, lease: '1s', poll: '50ms', maxRescues })))
await Promise.all(instances.map((jobs) => jobs.close()))
process.stdin.destroy()
