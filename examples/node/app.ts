// One process that puts jobs into the queue and runs them, with a schedule, until SIGTERM or Ctrl-C.
import { jobs } from 'treadle'
import { sendWelcome } from './jobs/send-welcome.ts'

jobs
  .define('count-users', async () => console.log('counted the users'))
  .dailyAt('02:30')
  .timezone('Europe/Paris')

const run = await sendWelcome.dispatch({ email: 'ada@example.com' })
await sendWelcome.delay('1h').dispatch({ email: 'grace@example.com' })

const working = jobs.work() // a worker and the scheduler; SIGTERM and SIGINT end it
console.log('sent to', (await run.result({ timeout: '1m' })).sentTo)
const { succeeded } = await working
console.log(`stopped after ${succeeded} jobs`)
await jobs.close()
