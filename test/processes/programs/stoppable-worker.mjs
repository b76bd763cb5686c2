// A worker to be stopped by signals. "finishes" jobs end when the file `go` is there, "stubborn" ones never do.
import { existsSync, writeSync } from 'node:fs'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { treadle } from 'treadle'

const { path, go, options } = JSON.parse(process.argv[2])
const jobs = treadle(`sqlite:${path}`)
jobs.define('finishes', async (_payload, ctx) => {
  writeSync(1, `started ${ctx.id}\n`)
  while (!existsSync(go)) await sleep(5)
  return 'finished'
})
jobs.define('heeds', async (_payload, ctx) => {
  writeSync(1, `started ${ctx.id}\n`)
  await sleep(3_600_000, undefined, { signal: ctx.signal })
})
jobs.define('stubborn', (_payload, ctx) => {
  writeSync(1, `started ${ctx.id}\n`)
  return new Promise(() => {})
})
jobs.define('quick', () => {})
jobs.on('worker:error', ({ error }) => writeSync(2, `worker:error ${error.code} ${error.message}\n`))
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => writeSync(1, `got ${signal}\n`))
await jobs.open()
const working = jobs.work(options)
await turn()
writeSync(1, 'working\n')
writeSync(1, `report ${JSON.stringify(await working)}\n`)
