// Runs the jobs of `backlog-producer.mjs`, and writes down what each of them was given.
import { openSync, writeSync } from 'node:fs'
import { treadle } from 'treadle'

const { url, log } = JSON.parse(process.argv[2])
const file = openSync(log, 'a')
// Whoever started it is gone.
process.stdin.resume().on('end', () => process.exit(1))
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const jobs = treadle(url, { signingKey: 'a key for tests, of 32 characters', logger: silent })
const run = async (sent, ctx) => void writeSync(file, `end ${ctx.id} ${process.pid} ${Date.now()} ${sent}\n`)

jobs.define('item', run)
jobs.define('step', run)
jobs.on('job:dead', ({ id, reason }) => writeSync(file, `dead ${id} ${process.pid} ${Date.now()} ${reason}\n`))
writeSync(1, 'working\n')
await jobs.work({ concurrency: 50 })
await jobs.close()
process.stdin.destroy()
