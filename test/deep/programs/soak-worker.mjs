// Runs the jobs of the soak. Each mark in the log is written before anything else can happen: the log tells what really ran, whatever
// the queue says of itself.
import { openSync, writeSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { treadle } from 'treadle'

const { url, log } = JSON.parse(process.argv[2])
const file = openSync(log, 'a')
const mark = (word, id, detail = '') => writeSync(file, `${word} ${id} ${process.pid} ${Date.now()} ${detail}\n`)
// Whoever started it is gone.
process.stdin.resume().on('end', () => process.exit(1))
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const jobs = treadle(url, { signingKey: 'a key for tests, of 32 characters', logger: silent })

async function run(_payload, ctx) {
  mark('begin', ctx.id, ctx.group ?? '')
  for (let turn = 0; turn < 5; turn++) await setImmediate()
  mark('end', ctx.id, ctx.group ?? '')
}

/** Also for handlers that ask the queue for something: its server may be away for longer than a call waits. */
const patient = { strategy: 'fixed', base: '10ms', jitter: 'none' }

jobs.define('plain', run)
jobs.define('limited', run).concurrency(3)
jobs.define('grouped', run).group(({ customer }) => customer, { concurrency: 1 })
jobs
  .define('shaky', async (payload, ctx) => {
    if (ctx.attempt === 1) throw new Error('fails the first time')
    await run(payload, ctx)
  })
  .retries(50, patient)
jobs.define('leaf', async ({ parent }, ctx) => {
  await run(null, ctx)
  mark('leaf', parent)
})
jobs.define('tick', async (_payload, ctx) => mark('tick', ctx.id, ctx.occurrence.getTime()))
// Its own calls fail while the server is being restarted, which is a failed attempt like any other.
jobs
  .define('parent', async (_payload, ctx) => {
    await ctx.dispatchChild('leaf', { parent: ctx.id }, { key: 'leaf' })
    await ctx.children()
    await run(null, ctx)
  })
  .retries(50, patient)

jobs.on('job:lost', ({ id }) => mark('lost', id))
jobs.on('job:succeeded', ({ id }) => mark('settled', id))
jobs.on('job:dead', ({ id, reason }) => mark('dead', id, reason))
jobs.on('worker:error', ({ error }) => writeSync(1, `trouble ${error.code} ${error.message}\n`))
await jobs.store()
writeSync(1, 'working\n')
await jobs.work({ concurrency: 16, lease: '5s', poll: '200ms', maxRescues: 1000 })
await jobs.close()
process.stdin.destroy()
