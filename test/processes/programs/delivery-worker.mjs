// Works on "deliver" jobs until it is killed. Each leaves one trace: a row in the queue's own database, in one transaction with
// its end, or a line in a log as the first thing that its handler does.
import { openSync, writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { treadle } from 'treadle'

const { path, delivery, log } = JSON.parse(process.argv[2])
const jobs = treadle(`sqlite:${path}`)
const file = log === undefined ? undefined : openSync(log, 'a')

const said = { written: 0, ended: 0 }
function say(what) {
  writeSync(1, `${what} ${++said[what]}\n`)
}

const handlers = {
  'effectively-once': async (_, ctx) => {
    await pause(Math.random() * 5)
    await ctx.transaction((tx) => {
      tx.run('INSERT INTO trace (job) VALUES (?)', ctx.id)
      tx.run('UPDATE counter SET value = value + 1')
      say('written')
    })
    await pause(Math.random() * 5)
  },
  'at-most-once': async (_, ctx) => {
    writeSync(file, `${ctx.id}\n`)
    say('written')
    await pause(Math.random() * 10)
  },
}

jobs
  .define('deliver', handlers[delivery])
  .delivery(delivery)
  .finally(() => say('ended'))
await jobs.work({ lease: '2s', concurrency: 5, maxRescues: 1_000 })
