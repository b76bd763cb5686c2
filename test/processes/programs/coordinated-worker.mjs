// Works on a broker with a coordination store beside it, and logs the beginning and the end of each job.
import { openSync, writeSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { treadle } from 'treadle'
import { openBeanstalkd } from 'treadle/beanstalkd'

const { url, coordination, log, hangs = null, ticks = false } = JSON.parse(process.argv[2])
const file = openSync(log, 'a')
const options = { coordination, unsigned: true }
const jobs = hangs === 'taking over' ? treadle({ backend: await hangingBroker(), ...options }) : treadle(url, options)
jobs
  .define('charge', async (_payload, ctx) => {
    writeSync(file, `start ${ctx.id} ${process.pid}\n`)
    if (hangs === 'running') await hang('running')
    writeSync(file, `end ${ctx.id} ${process.pid}\n`)
    return process.pid
  })
  .idempotencyKey(({ order }) => `charge:${order}`)
jobs
  .define('limited', async (_payload, ctx) => {
    writeSync(file, `start ${ctx.id} ${process.pid}\n`)
    for (let turn = 0; turn < 20; turn++) await setImmediate()
    writeSync(file, `end ${ctx.id} ${process.pid}\n`)
  })
  .concurrency(2)
if (ticks) {
  jobs
    .define('tick', (_payload, ctx) => void writeSync(file, `tick ${ctx.occurrence.getTime()} ${process.pid}\n`))
    .everySecond()
    .overlap('allow')
}
jobs.on('worker:error', ({ error }) => writeSync(2, `worker:error ${error.code} ${error.message}\n`))
writeSync(1, 'working\n')
await jobs.work({ concurrency: 5, poll: '20ms', lease: '1h' })
await jobs.close()

/** Its messages are never removed once their jobs are stored. */
async function hangingBroker() {
  const broker = await openBeanstalkd({ url })
  return new Proxy(broker, {
    get(target, name) {
      if (name === 'settle') return () => hang('stored')
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

function hang(word) {
  writeSync(1, `${word}\n`)
  return new Promise(() => {})
}
