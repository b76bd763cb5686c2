// A worker whose handler computes for so long without a pause that nothing else in its process goes on.
import { writeSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { treadle } from 'treadle'

const { path, blockMs, options } = JSON.parse(process.argv[2])
const jobs = treadle(`sqlite:${path}`, { logger: { debug() {}, info() {}, warn: say, error: say } })
jobs.define('block', (_payload, ctx) => {
  writeSync(1, `blocks ${ctx.id}\n`)
  const end = performance.now() + blockMs
  while (performance.now() < end);
  return process.pid
})
jobs.on('job:lost', ({ id }) => writeSync(1, `lost ${id}\n`))
jobs.on('job:succeeded', ({ id }) => writeSync(1, `succeeded ${id}\n`))
await jobs.open()
const working = jobs.work(options)
await turn()
writeSync(1, 'working\n')
await working
await jobs.close()

function say(message) {
  writeSync(1, `said ${message}\n`)
}
