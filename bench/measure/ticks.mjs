// How long a scheduler's look at very many schedules takes, on SQLite, on a clock that is moved by hand.
import { openBackend } from '../../dist/app/open-backend.js'
import { settingsOf } from '../../dist/app/options.js'
import { Sending } from '../../dist/app/sending.js'
import { treadle } from '../../dist/index.js'
import { ManualClock } from '../../dist/testing/manual-clock.js'
import { Scheduler } from '../../dist/worker/scheduler.js'
import { percentile } from './statistics.mjs'

const zones = ['UTC', 'Europe/Paris', 'America/New_York', 'Asia/Tokyo']

export async function measure({ place: folder, schedules, due, ticks, warmUp }) {
  const clock = new ManualClock(Date.parse('2027-01-01T00:00:30Z'))
  const settings = settingsOf({ clock })
  const opened = await openBackend('sqlite:jobs.db', settings, folder)
  const sending = new Sending(opened, settings)
  const definitions = definitionsOf(schedules, due)
  const scheduler = new Scheduler({
    definitions: () => definitions,
    schedules: opened.backend.store.schedules,
    envelope: (definition, at, runAt) => sending.occurrence(definition, at, runAt),
    clock,
    environment: null,
    logger: settings.logger,
    onError: (error) => {
      throw error
    },
  })
  const times = []
  for (let tick = 0; tick < warmUp + ticks; tick++) {
    const start = performance.now()
    const { enqueued } = await scheduler.tick()
    times.push(performance.now() - start)
    if (tick > 0 && enqueued !== (due === 'all' ? schedules : 0)) throw new Error(`${enqueued} occurrences were stored`)
    await clock.advance(1_000)
  }
  await opened.backend[Symbol.asyncDispose]()
  const measured = times.slice(warmUp)
  return { p50: percentile(measured, 50), p99: percentile(measured, 99) }
}

/** All of them each second, or each once a day and none of them now. */
function definitionsOf(count, due) {
  const jobs = treadle('memory:')
  for (let number = 0; number < count; number++) {
    const job = jobs.define(`job-${number}`, () => null)
    if (due === 'all') job.everySecond()
    else job.cron(`${number % 60} ${1 + (number % 20)} * * *`).timezone(zones[number % zones.length])
  }
  return jobs.definitions()
}
