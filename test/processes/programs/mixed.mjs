// Dispatches and works at the same time: plain jobs in two queues, and jobs with unique keys that all processes send.
import { openSync, writeSync } from 'node:fs'
import { treadle } from 'treadle'

const { path, log, count, keys, name } = JSON.parse(process.argv[2])
const file = openSync(log, 'a')
const jobs = treadle(`sqlite:${path}`)
const run = (_payload, ctx) => void writeSync(file, `${ctx.job} ${ctx.id}\n`)
const plain = jobs.define('plain', run)
const other = jobs.define('other', run).queue('second').priority(8)
// Waits for the end of the test, so that its key stays taken.
const unique = jobs.declare('unique')
jobs.on('worker:error', ({ error }) => writeSync(2, `worker:error ${error.code} ${error.message}\n`))

const working = jobs.work({ concurrency: 10 })
const created = []
for (let number = 0; number < count; number += 10) {
  const some = Array.from({ length: 10 }, (_, index) => ({ name, number: number + index }))
  await Promise.all(some.map((payload) => plain.dispatch(payload)))
  await other.dispatchMany(some)
  const key = `key-${(number / 10) % keys}`
  created.push(await unique.dispatch({ name }, { unique: key }))
}
writeSync(1, `created ${created.filter((one) => one.created).length}\n`)
writeSync(1, `ids ${JSON.stringify([...new Set(created.map((one) => one.id))])}\n`)
writeSync(1, `report ${JSON.stringify(await working)}\n`)
await jobs.close()
