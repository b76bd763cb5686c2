// Makes the database's thread fail again and again, idle and with calls under way, while jobs are sent and run.
import { writeSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import threads from 'node:worker_threads'

const started = []
/** Where the next call meets a message that the thread cannot read and dies of: before it, or right behind it. */
let fault
const { Worker } = threads
threads.Worker = class extends Worker {
  constructor(...args) {
    super(...args)
    started.push(this)
  }

  postMessage(call) {
    const messages = fault === undefined ? [call] : fault === 'before' ? [null, call] : [call, null]
    fault = undefined
    for (const message of messages) super.postMessage(message)
  }
}
syncBuiltinESMExports()

const { path } = JSON.parse(process.argv[2])
const { treadle } = await import('treadle')
const errors = []
const logger = { debug() {}, info() {}, warn() {}, error() {} }
const jobs = treadle(`sqlite:${path}`, { logger })
const job = jobs.define('count', () => {})
jobs.on('worker:error', ({ error }) => errors.push(error.code))
const some = Array.from({ length: 500 }, (_, number) => number)
let acknowledged = 0

await send()
// While it is idle: nobody notices.
await started.at(-1).terminate()
await send()
writeSync(1, `idle ${JSON.stringify({ acknowledged, threads: started.length })}\n`)

// Under a call, or under the one that follows while the thread dies: those fail, the next one does not.
const failures = []
for (const place of ['before', 'behind', 'before', 'behind']) {
  fault = place
  for (let call = 1; call <= 2; call++) await send().catch((error) => failures.push({ place, code: error.code }))
  await send()
}
writeSync(1, `busy ${JSON.stringify({ acknowledged, failures, threads: started.length })}\n`)

// While a worker works: it goes on.
const controller = new AbortController()
const working = jobs.work({ lease: '1s', signals: false, signal: controller.signal })
const store = await jobs.store()
for (let round = 0; round < 6; round++) {
  fault = round % 2 === 0 ? 'before' : 'behind'
  await send().catch(() => {})
}
while ((await left()) > 0) await new Promise((resolve) => setTimeout(resolve, 20))
controller.abort()
await working
writeSync(1, `worked ${JSON.stringify({ acknowledged, errors: [...new Set(errors)] })}\n`)
await jobs.close()

/** A look that meets the dying thread sees nothing. */
async function left() {
  const [job] = await store.counts().catch(() => [])
  return job === undefined ? 1 : job.counts.ready + job.counts.running
}

async function send() {
  acknowledged += (await jobs.dispatchMany(job, some)).length
}
