// Looks by itself only every ten minutes: whatever it does sooner, it was woken for.

import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { treadle } from 'treadle'

const { path, concurrency } = JSON.parse(process.argv[2])
const jobs = treadle(`sqlite:${path}`)
jobs.define('echo', (payload) => payload)
jobs.define('until-aborted', async (_payload, ctx) => {
  writeSync(1, `started ${ctx.id}\n`)
  if (!ctx.signal.aborted) await once(ctx.signal, 'abort')
  writeSync(1, `aborted ${ctx.id} ${ctx.signal.reason.code}\n`)
  throw ctx.signal.reason
})
const working = jobs.work({ concurrency, poll: '10m' })
writeSync(1, 'working\n')
await working
await jobs.close()
