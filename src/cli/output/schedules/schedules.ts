import { limitsText } from '../../schedules/run-rules.ts'
import type { LastRun, ScheduleState, ScheduleStatus } from '../../schedules/schedules.ts'
import type { Colours, Output } from '../output.ts'
import type { Column } from '../table.ts'
import { visibleLine } from '../text.ts'
import { relativeTime, zonedTime } from '../time.ts'

export function scheduleTable(schedules: readonly ScheduleStatus[], out: Output, now: number): string {
  return out.table(
    [
      ...scheduleColumns(out, now),
      { head: 'OVERLAP', cell: ({ rules }) => rules?.overlap ?? '-', whole: true, rank: 8 },
      { head: 'MISFIRE', cell: ({ rules }) => rules?.misfire ?? '-', rank: 9 },
      { head: 'LIMITS', cell: ({ limits }) => (limits === null ? '-' : limitsText(limits)), rank: 10 },
      { head: 'MEANS', cell: ({ text }) => text ?? '', least: 20, rank: 7 },
    ],
    schedules,
  )
}

/** Without the meaning in words, for output that shows more than schedules. */
export function shortScheduleTable(schedules: readonly ScheduleStatus[], out: Output, now: number): string {
  return out.table(scheduleColumns(out, now), schedules)
}

/** Notes about the schedules to print with the table. */
export function scheduleNotes(schedules: readonly ScheduleStatus[], now: number): readonly string[] {
  const forgotten = namesOf(schedules, ({ state }) => state === 'not in code')
  const rejected = namesOf(schedules, ({ state }) => state === 'rejected')
  const overdue = namesOf(schedules, ({ state, last }) => state === 'active' && isOverdue(last, now))
  return [
    ...(overdue === '' ? [] : [`Overdue scheduled runs: ${overdue}. Is a worker running?`]),
    ...(rejected === '' ? [] : [`Not followed, because no key of this program has signed them: ${rejected}`]),
    ...(forgotten === '' ? [] : [`No longer in the code: ${forgotten}. To remove one: treadle forget NAME`]),
  ]
}

/** How long a due run may wait before it counts as overdue; a live worker starts it within seconds. */
const patienceMs = 60_000

function isOverdue(last: LastRun | null, now: number): boolean {
  return last !== null && last.state === 'waits' && now - Date.parse(last.runAt ?? last.at) > patienceMs
}

function namesOf(schedules: readonly ScheduleStatus[], isMeant: (schedule: ScheduleStatus) => boolean): string {
  return schedules
    .filter(isMeant)
    .map(({ schedule }) => visibleLine(schedule))
    .join(', ')
}

function scheduleColumns(out: Output, now: number): readonly Column<ScheduleStatus>[] {
  return [
    { head: 'SCHEDULE', cell: ({ schedule }) => schedule, least: 10, rank: 1 },
    { head: 'EXPRESSION', cell: ({ expression }) => expression, least: 14, rank: 5 },
    { head: 'ZONE', cell: ({ timezone }) => timezone, whole: true, rank: 4 },
    {
      head: 'STATE',
      cell: ({ state }) => state,
      style: (text, { state }) => stateColour(out.colours, state)(text),
      whole: true,
      rank: 0,
    },
    { head: 'LAST', cell: ({ last }) => lastText(last, now), whole: true, rank: 3 },
    { head: 'NEXT RUN', cell: (schedule) => nextText(schedule, now), whole: true, rank: 2 },
    { head: 'AT', cell: atText, whole: true, rank: 6 },
  ]
}

function nextText({ state, beginsAtOnce, nextAt }: ScheduleStatus, now: number): string {
  if (nextAt !== null) return relativeTime(Date.parse(nextAt), now)
  return beginsAtOnce && (state === 'active' || state === 'new') ? 'at once' : '-'
}

function atText({ nextAt, timezone }: ScheduleStatus): string {
  return nextAt === null ? '-' : zonedTime(Date.parse(nextAt), timezone)
}

function lastText(last: LastRun | null, now: number): string {
  return last === null ? '-' : `${relativeTime(Date.parse(last.at), now)}, ${last.state}`
}

function stateColour(colours: Colours, state: ScheduleState): (text: string) => string {
  switch (state) {
    case 'active':
      return colours.green
    case 'new':
      return (text) => text
    case 'paused':
    case 'not in code':
      return colours.yellow
    case 'unknown job':
      return colours.yellow
    case 'rejected':
      return colours.red
    case 'disabled':
    case 'other environment':
    case 'ended':
      return colours.dim
  }
}
