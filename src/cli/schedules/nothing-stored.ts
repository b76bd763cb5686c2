import type { Treadle } from '../../app/treadle.ts'
import { formatInstant, type Instant, parseInstant } from '../../core/time/instant.ts'
import type { Schedule } from '../../scheduling/schedule.ts'
import type { RunOptions } from '../../worker/options.ts'
import type { DryRun } from '../../worker/scheduler/dry-run.ts'
import { leftOutWords } from '../output/schedules/dry-run.ts'
import { visibleLine } from '../output/text.ts'
import { dryRuns } from './dry-run.ts'
import { scheduleNamed } from './schedules.ts'

/** Why a pass at this instant stored nothing. */
export async function nothingStoredAt(jobs: Treadle, options: RunOptions, at: Instant): Promise<string> {
  const instant = parseInstant(at, 'at')
  const runs = await dryRuns(jobs, options)
  const falling = await Promise.all(runs.map(async ({ schedule }) => fallsOn(await scheduleNamed(jobs, schedule), instant)))
  const concerned = runs.filter((_, index) => falling[index])
  const when = formatInstant(instant)
  if (concerned.length === 0) return `nothing was queued: no schedule has a run at ${when}`
  return `nothing was queued for ${when}: ${concerned.map(reasonText).join(', ')}`
}

function fallsOn(schedule: Schedule, instant: number): boolean {
  return schedule.kind === 'calendar' && schedule.current(instant) !== null
}

function reasonText({ schedule, leftOut, occurrences }: DryRun): string {
  const stored = occurrences.some((run) => run.stored) ? 'queued before' : 'could not be queued'
  return `${visibleLine(schedule)} (${leftOut === null ? stored : leftOutWords[leftOut]})`
}
