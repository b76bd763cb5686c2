import { formatDuration, parseDuration } from '../../../core/time/duration.ts'
import type { DaemonOptions } from '../../../worker/options.ts'
import type { RunReport } from '../../../worker/runs/report.ts'
import type { TickSummary } from '../../../worker/scheduler/tick-statistics.ts'
import { plural } from '../text.ts'
import { reportText } from './work-log.ts'

// Messages printed when a worker starts, and when it has stopped.

export interface Started {
  readonly url: string
  readonly config: string | null
  readonly queues: readonly string[] | null
  readonly jobs: readonly string[]
  readonly concurrency: number
  readonly scheduler: boolean | 'single'
  readonly schedules: number
  /** Only for a daemon. */
  readonly tickMs?: number
  /** Only if there are several. */
  readonly processes?: number
}

export function startText(started: Started): string {
  const { url, config, queues, jobs, concurrency, tickMs, processes } = started
  return [
    `working on ${url}`,
    `  config       ${config ?? 'none'}`,
    `  queues       ${queues?.join(', ') ?? 'all'}`,
    `  jobs         ${jobs.join(', ') || 'none'}`,
    ...(processes === undefined ? [] : [`  processes    ${processes}`]),
    `  concurrency  ${concurrency}${processes === undefined ? '' : ' in each'}`,
    `  schedules    ${schedulesText(started)}`,
    ...(tickMs === undefined ? [] : [`  tick         ${formatDuration(tickMs)}`]),
  ].join('\n')
}

/** For a daemon, also says how well it kept time. */
export function stoppedText(report: RunReport & Partial<TickSummary>): string {
  const done = `stopped: ${reportText(report) || 'nothing was done'}`
  const { ticks, overruns = 0, missedTicks = 0, clockJumps = 0, longestMs = 0, latestMs = 0 } = report
  if (ticks === undefined) return done
  return [
    done,
    `  ticks         ${ticks}`,
    `  overruns      ${overruns}${overruns === 0 ? '' : ', which took longer than the tick'}`,
    `  missed ticks  ${missedTicks}`,
    `  clock         ${clockJumps === 0 ? 'steady' : plural(clockJumps, 'jump')}`,
    `  longest tick  ${formatDuration(longestMs)}`,
    `  latest start  ${formatDuration(latestMs)} after its time`,
  ].join('\n')
}

export function tickOf({ tick = '1m' }: DaemonOptions): number {
  return parseDuration(tick, 'tick')
}

function schedulesText({ scheduler, schedules }: Started): string {
  if (scheduler === false) return 'not followed here'
  return scheduler === 'single' ? `${schedules}, followed by one scheduler at a time` : String(schedules)
}
