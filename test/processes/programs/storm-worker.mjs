// Works on "plain" jobs, and on "limited" ones of which three may run at once over all processes. It writes down each beginning and
// end with the time, and each lease that it lost. It goes on, whatever happens to the database.
import { openSync, writeSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { treadle } from 'treadle'

const { url, log } = JSON.parse(process.argv[2])
const file = openSync(log, 'a')
const note = (word, id) => writeSync(file, `${word} ${id} ${process.pid} ${Date.now()}\n`)
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const jobs = treadle(url, { signingKey: 'a key for tests, of 32 characters', logger: silent })

async function run(_payload, ctx) {
  note('start', ctx.id)
  for (let turn = 0; turn < 5; turn++) await setImmediate()
  note('end', ctx.id)
}

jobs.define('plain', run)
jobs.define('limited', run).concurrency(3)
jobs.on('job:lost', ({ id }) => note('lost', id))
jobs.on('worker:error', ({ error }) => writeSync(1, `trouble ${error.code} ${error.message}\n`))
// A program that finds no database when it starts says so and ends: only then it goes on whatever happens.
await jobs.store()
writeSync(1, 'working\n')
await jobs.work({ concurrency: 16, lease: '5s', poll: '200ms', maxRescues: 50 })
await jobs.close()
