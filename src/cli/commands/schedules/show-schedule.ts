import type { Command } from 'commander'
import type { OccurrenceRecord } from '../../../queue/contract/schedule-store.ts'
import { lastOccurrences } from '../../../queue/contract/schedule-store.ts'
import { iso } from '../../output/jobs/jobs.ts'
import type { Output } from '../../output/output.ts'
import { visibleLine } from '../../output/text.ts'
import { relativeTime, zonedTime } from '../../output/time.ts'
import { limitsText } from '../../schedules/run-rules.ts'
import { occurrenceJson, readSchedules, refuseUnknownSchedule, type ScheduleStatus } from '../../schedules/schedules.ts'
import { loadSoundJobs, lookIntoStore } from '../../session.ts'

const shownRuns = 10

/** Prints a schedule from the code or a stored one. */
export async function printSchedule(command: Command, key: string): Promise<void> {
  await lookIntoStore(command, async (session) => {
    const { jobs, store, out, now } = session
    const known = await readSchedules(jobs, now, await loadSoundJobs(session))
    refuseUnknownSchedule(key, known)
    const status = known.find(({ schedule }) => schedule === key) ?? known.find((each) => each.key === key)
    if (status === undefined) return
    const stored = status.key === null ? null : await jobs.schedules.get(status.key)
    const recent = await lastOccurrences(store.schedules, status.schedule, now, shownRuns)
    const payload = stored === null ? undefined : stored.payload
    out.answer(
      {
        ...status,
        ...(stored && { payload: payload ?? null, until: iso(stored.until), problem: stored.problem }),
        recent: recent.map(occurrenceJson),
      },
      () => scheduleText(status, stored === null ? [] : storedLines(stored), recent, out, now),
    )
  })
}

type Line = readonly [name: string, value: string]

function storedLines({
  payload,
  until,
  problem,
}: {
  payload: unknown
  until: number | null
  problem: string | null
}): readonly Line[] {
  return [
    ['payload', payload === undefined ? '-' : JSON.stringify(payload)],
    ...(until === null ? [] : [['until', new Date(until).toISOString()] as const]),
    ...(problem === null ? [] : [['problem', problem] as const]),
  ]
}

function scheduleText(
  status: ScheduleStatus,
  more: readonly Line[],
  recent: readonly OccurrenceRecord[],
  out: Output,
  now: number,
): string {
  const { schedule, key, job, state, expression, timezone, text, rules, limits, nextAt } = status
  const next = nextAt === null ? '-' : `${zonedTime(Date.parse(nextAt), timezone)} (${relativeTime(Date.parse(nextAt), now)})`
  const lines: readonly Line[] = [
    ['schedule', key ?? schedule],
    ['kept in', key === null ? 'the code' : 'the queue'],
    ['job', job],
    ['state', state],
    ['runs', `${expression} (${timezone})${text === null ? '' : `: ${text}`}`],
    ['next run', next],
    ['overlap', rules?.overlap ?? '-'],
    ['misfire', rules?.misfire ?? '-'],
    ['limits', limits === null ? '-' : limitsText(limits)],
    ...more,
    ...recent.map((run): Line => ['run', runText(run, now)]),
  ]
  return lines.map(([name, value]) => `${out.colours.dim(name.padEnd(10))}${visibleLine(value)}`).join('\n')
}

function runText({ at, outcome, jobId }: OccurrenceRecord, now: number): string {
  return `${relativeTime(at, now)}, ${outcome ?? 'not ended'}, ${jobId}`
}
