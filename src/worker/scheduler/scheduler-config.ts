import { shown } from '../../core/text/shown.ts'
import { parseDuration } from '../../core/time/duration.ts'
import { parseInstant } from '../../core/time/instant.ts'
import { durationOr, isSwitch, isWithin, readOr } from '../option-values.ts'
import type { AnyWorkOptions, WorkKind } from '../options.ts'

/** How to follow schedules. */
export interface SchedulerConfig {
  readonly isSingle: boolean
  /** Null wakes up for each occurrence instead. */
  readonly tickMs: number | null
  readonly maxOverruns: number | null
  /** The time to evaluate; null means now. */
  readonly at: number | null
}

const minTickMs = 1_000
const maxTickMs = 3_600_000

/** Takes options that `workerConfig` has validated. Null if schedules are not followed. */
export function schedulerConfig(options: AnyWorkOptions, kind: WorkKind): SchedulerConfig | null {
  const { scheduler = true, tick = 60_000, maxOverruns = 5, at } = options
  if (scheduler === false) return null
  return {
    isSingle: scheduler === 'single',
    tickMs: kind === 'daemon' ? parseDuration(tick, 'tick') : null,
    maxOverruns: kind === 'daemon' && maxOverruns > 0 ? maxOverruns : null,
    at: at === undefined ? null : parseInstant(at, 'at'),
  }
}

export function schedulerProblems({ scheduler, tick, maxOverruns = 5, at }: AnyWorkOptions): readonly string[] {
  const problems: string[] = []
  const tickMs = durationOr(60_000, tick, 'tick', problems)
  readOr(0, () => (at === undefined ? 0 : parseInstant(at, 'at')), problems)
  if (!isSwitch(scheduler) && scheduler !== 'single')
    problems.push(`scheduler must be true, false or 'single', got ${shown(scheduler)}`)
  if (!isWithin(tickMs, minTickMs, maxTickMs)) problems.push(`tick must be from 1s to 1h, got ${tickMs} ms`)
  if (!isWithin(maxOverruns, 0, 1_000_000)) problems.push(`maxOverruns must be a whole number, got ${shown(maxOverruns)}`)
  if (at !== undefined && scheduler === false) problems.push('at has no meaning without the scheduler')
  return problems
}
