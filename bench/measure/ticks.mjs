// How long a scheduler's look at very many schedules takes, on SQLite, on a clock that is moved by hand.
import { openBackend } from '../../build/app/config/open-backend.js'
import { settingsOf } from '../../build/app/config/settings.js'
import { Sending } from '../../build/app/dispatching/sending.js'
import { parseRecurrence, scheduleOf, storedName } from '../../build/definition/recurrence.js'
import { sealSchedule } from '../../build/envelope/schedule-seal.js'
import { treadle } from '../../build/index.js'
import { Telemetry } from '../../build/telemetry/telemetry.js'
import { ManualClock } from '../../build/testing/manual-clock.js'
import { versionOfText } from '../../build/worker/scheduler/followed.js'
import { Scheduler } from '../../build/worker/scheduler/scheduler.js'
import { percentile } from './statistics.mjs'

const zones = ['UTC', 'Europe/Paris', 'America/New_York', 'Asia/Tokyo']

/** Of schedules in the code, or of as many that were made at run time. */
export async function measure({ place: folder, schedules, due, ticks, warmUp, stored = false }) {
  const clock = new ManualClock(Date.parse('2027-01-01T00:00:30Z'))
  const settings = settingsOf({ clock })
  const opened = await openBackend('sqlite:jobs.db', settings, folder)
  const sending = new Sending(opened, settings, new Telemetry())
  const definitions = stored ? await storedOnes(schedules, due, opened, sending) : definitionsOf(schedules, due)
  const scheduler = new Scheduler({
    definitions: () => definitions,
    schedules: opened.backend.store.schedules,
    sweep: (request) => opened.backend.store.sweep(request),
    envelope: (definition, at, runAt, run) => sending.occurrence(definition, at, runAt, run),
    keys: opened.keys,
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
    const { cron, timezone } = timesOf(number, due)
    job.cron(cron).timezone(timezone)
  }
  return jobs.definitions()
}

/** A thousand a tenant, each for one of as many jobs as there are schedules in the other case. */
async function storedOnes(count, due, { backend, keys }, sending) {
  const jobs = treadle('memory:')
  const entries = []
  for (let number = 0; number < count; number++) {
    const definition = jobs.define(`job-${number}`, () => null).toDefinition()
    const recurrence = parseRecurrence(`tenant-${Math.floor(number / 1_000)}/${number}`, timesOf(number, due), 'UTC')
    const payload = await sending.scheduledPayload(definition, null)
    const sealed = sealSchedule({ job: definition.job, recurrence, payload }, 'default', keys, false)
    const { expression, timezone } = scheduleOf(recurrence)
    const name = storedName(recurrence.key)
    entries.push({ name, expression, timezone, version: versionOfText(sealed.text), definition: sealed })
  }
  await backend.store.schedules.register(entries)
  return jobs.definitions()
}

function timesOf(number, due) {
  if (due === 'all') return { cron: '* * * * * *', timezone: 'UTC' }
  return { cron: `${number % 60} ${1 + (number % 20)} * * *`, timezone: zones[number % zones.length] }
}
