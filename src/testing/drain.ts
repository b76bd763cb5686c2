import type { Treadle } from '../app/treadle.ts'
import { type Duration, parseDuration } from '../core/duration.ts'
import { TreadleError } from '../core/errors.ts'
import type { RunOptions } from '../worker/options.ts'
import { emptyTally, type RunReport } from '../worker/report.ts'
import type { ManualClock } from './manual-clock.ts'
import { everyRecord } from './records.ts'

export interface DrainOptions extends Pick<RunOptions, 'concurrency' | 'queues' | 'jobs' | 'maxRescues' | 'signal'> {
  /** The clock that the program was made with: it is moved forward over delays, retries and snoozes. */
  readonly clock?: ManualClock
  /** Follows the schedules too, and stops when so much time has passed on the clock. */
  readonly for?: Duration
}

/**
 * Runs everything that is due until nothing is. With a clock, what is due later is run as well, each job at its own instant.
 * Schedules never end, so they are followed only with `for`.
 */
export async function drain(jobs: Treadle, options: DrainOptions = {}): Promise<RunReport> {
  const { clock, for: duration, ...runOptions } = options
  const total = emptyTally()
  const endAt = endOf(clock, duration)
  for (let pass = 0; pass < mostPasses; pass++) {
    const report = await jobs.run({ ...runOptions, scheduler: endAt !== null })
    for (const count of Object.keys(total) as (keyof RunReport)[]) total[count] += report[count]
    if (clock === undefined || options.signal?.aborted === true) return total
    const dueAt = await nextDueAt(jobs, options)
    if (dueAt === null || (endAt !== null && dueAt > endAt)) {
      if (endAt !== null) await clock.advance(endAt - clock.now())
      return total
    }
    await clock.advance(dueAt - clock.now())
  }
  const message = `drain() moved the clock ${mostPasses} times and jobs still wait. Does one of them always snooze? Give the option "for" to end at a time.`
  throw new TreadleError('WAIT_TIMEOUT', message)
}

const mostPasses = 10_000

function endOf(clock: ManualClock | undefined, duration: Duration | undefined): number | null {
  if (duration === undefined) return null
  if (clock === undefined) throw new TreadleError('CONFIG_INVALID', 'drain: the option "for" needs the option "clock"')
  return clock.now() + parseDuration(duration, 'for')
}

/** When the next job that this drain would run falls due. */
async function nextDueAt(jobs: Treadle, { queues, jobs: only }: DrainOptions): Promise<number | null> {
  const store = await jobs.store()
  const paused = await store.pausedQueues()
  const handled = new Set(jobs.definitions().flatMap(({ job, fields }) => (fields.handler === null ? [] : [job])))
  let earliest: number | null = null
  for await (const { job, queue, runAt } of everyRecord(store, { state: 'scheduled' })) {
    if (!handled.has(job) || paused.includes(queue)) continue
    if (only?.includes(job) === false || queues?.includes(queue) === false) continue
    if (earliest === null || runAt < earliest) earliest = runAt
  }
  return earliest
}
