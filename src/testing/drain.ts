import type { Treadle } from '../app/treadle.ts'
import { TreadleError } from '../core/errors.ts'
import { refuseUnknownOptions } from '../core/options.ts'
import { type Duration, parseDuration } from '../core/time/duration.ts'
import type { JobRecord } from '../queue/contract/store.ts'
import type { RunOptions } from '../worker/options.ts'
import { addReport, emptyTally, type RunReport } from '../worker/runs/report.ts'
import type { ManualClock } from './manual-clock.ts'
import { everyRecord } from './records.ts'

/** Options of `drain`. */
export interface DrainOptions extends Pick<RunOptions, 'concurrency' | 'queues' | 'jobs' | 'maxRescues' | 'signal'> {
  /** The clock of the program. It is moved forward past delays, retries, snoozes, repeats and rate limits. */
  readonly clock?: ManualClock
  /** Also runs schedules, and stops when this much time has passed on the clock. */
  readonly for?: Duration
}

// A record, so that the compiler requires an entry for each new option.
const optionNames: Readonly<Record<keyof DrainOptions, true>> = {
  concurrency: true,
  queues: true,
  jobs: true,
  maxRescues: true,
  signal: true,
  clock: true,
  for: true,
}

/**
 * Runs everything that is due until nothing is. With a clock, it also runs jobs that are due later or wait for a rate limit, each
 * at its own instant. Schedules and repeats never end, so they run only with `for`.
 */
export async function drain(jobs: Treadle, options: DrainOptions = {}): Promise<RunReport> {
  refuseUnknownOptions(options, Object.keys(optionNames), 'drain')
  const { clock, for: duration, ...runOptions } = options
  const total = emptyTally()
  const endAt = endOf(clock, duration)
  const mostMoves = endAt === null ? mostEndlessMoves : Number.POSITIVE_INFINITY
  for (let moves = 0; moves < mostMoves; moves++) {
    let report: RunReport
    do {
      report = await jobs.run({ ...runOptions, scheduler: endAt !== null })
      addReport(total, report)
      if (clock === undefined || options.signal?.aborted === true) return total
    } while (endAt !== null && (await mayGoOn(jobs, report)))
    const dueAt = await nextDueAt(jobs, options)
    if (dueAt === null || (endAt !== null && dueAt > endAt)) {
      if (endAt !== null) await clock.advance(endAt - clock.now())
      return total
    }
    await clock.advance(Math.max(dueAt - clock.now(), 1))
  }
  const message = `drain() moved the clock ${mostEndlessMoves} times and jobs still wait. Does one of them always snooze or repeat? Give the option "for" to end at a time.`
  throw new TreadleError('WAIT_TIMEOUT', message)
}

const mostEndlessMoves = 10_000

/** The next run of a repeat is stored by the pass after the one in which the previous run has ended. */
async function mayGoOn(jobs: Treadle, { succeeded, dead, cancelled, skipped }: RunReport): Promise<boolean> {
  if (succeeded + dead + cancelled + skipped === 0) return false
  if (jobs.definitions().some(({ fields }) => fields.schedule?.kind === 'repeat')) return true
  return (await jobs.schedules.list({ stored: true })).some(({ stored }) => stored !== null && stored.kind !== 'cron')
}

function endOf(clock: ManualClock | undefined, duration: Duration | undefined): number | null {
  if (duration === undefined) return null
  if (clock === undefined) throw new TreadleError('CONFIG_INVALID', 'drain: the option "for" needs the option "clock"')
  return clock.now() + parseDuration(duration, 'for')
}

/** When the next job that this drain would run is due, or may start according to its rate limits. */
async function nextDueAt(jobs: Treadle, { queues, jobs: only }: DrainOptions): Promise<number | null> {
  const store = await jobs.store()
  const [paused, pausedJobs] = [(await store.paused()).queues, (await store.paused()).jobs]
  const handled = new Set(jobs.definitions().flatMap(({ job, fields }) => (fields.handler === null ? [] : [job])))
  const isWanted = ({ job, queue }: JobRecord) =>
    handled.has(job) &&
    !paused.includes(queue) &&
    !pausedJobs.includes(job) &&
    only?.includes(job) !== false &&
    queues?.includes(queue) !== false
  let earliest: number | null = null
  const consider = (at: number) => {
    if (earliest === null || at < earliest) earliest = at
  }
  for await (const record of everyRecord(store, { state: 'scheduled' })) if (isWanted(record)) consider(record.runAt)
  const asked = new Set<string>()
  for await (const record of everyRecord(store, { state: 'ready' })) {
    const sameRates = JSON.stringify([record.job, record.queue, record.group])
    if (!isWanted(record) || asked.has(sameRates)) continue
    asked.add(sameRates)
    const at = await nextTokenAt(record, jobs)
    if (at !== null) consider(at)
  }
  return earliest
}

/** Null if no rate limit holds it back. */
async function nextTokenAt({ id }: JobRecord, jobs: Treadle): Promise<number | null> {
  const { reasons } = await jobs.why(id)
  const instants = reasons.flatMap(({ rule, until }) => (rule === 'rate' && until !== null ? [until.getTime()] : []))
  return instants.length === 0 ? null : Math.max(...instants)
}
