import type { Treadle } from '../app/treadle.ts'
import { formatInstant, type Instant, parseInstant } from '../core/instant.ts'
import type { Schedule } from '../scheduling/schedule.ts'
import type { DryRun } from '../worker/dry-run.ts'
import type { RunOptions } from '../worker/options.ts'
import { dryRuns } from './dry-run.ts'
import { leftOutWords } from './output/dry-run.ts'
import { visibleLine } from './output/text.ts'
import { scheduleInCode } from './schedules.ts'

/** Why a pass at this instant stored nothing. */
export async function nothingStoredAt(jobs: Treadle, options: RunOptions, at: Instant): Promise<string> {
  const instant = parseInstant(at, 'at')
  const runs = await dryRuns(jobs, options)
  const concerned = runs.filter(({ schedule }) => fallsOn(scheduleInCode(jobs, schedule), instant))
  const when = formatInstant(instant)
  if (concerned.length === 0) return `nothing was stored: no schedule has a run at ${when}`
  return `nothing was stored of what falls on ${when}: ${concerned.map(reasonText).join(', ')}`
}

function fallsOn(schedule: Schedule, instant: number): boolean {
  return schedule.kind === 'calendar' && schedule.current(instant) !== null
}

function reasonText({ schedule, leftOut, occurrences }: DryRun): string {
  const stored = occurrences.some((run) => run.stored) ? 'stored before' : 'could not be stored'
  return `${visibleLine(schedule)} (${leftOut === null ? stored : leftOutWords[leftOut]})`
}
