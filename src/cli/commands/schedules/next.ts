import type { Command } from 'commander'
import type { Schedule } from '../../../scheduling/schedule.ts'
import { examples } from '../../examples.ts'
import { explainedText, laterNote, leftOutNote, mergedText } from '../../output/schedules/next-runs.ts'
import { explained, mergedRuns, type RunsWanted, type Standing } from '../../schedules/next-runs.ts'
import { isExpression, parseExpression } from '../../schedules/schedule-expression.ts'
import { readSchedules, type ScheduleStatus, scheduleNamed } from '../../schedules/schedules.ts'
import { lookOnly, type ProjectSession, type Session, withJobs, withOutput } from '../../session.ts'
import { instant, wholeNumber, zone } from '../../values.ts'

interface NextOptions {
  readonly count: number
  readonly zone?: string
  readonly from?: Date
}

export function addNext(program: Command): void {
  program
    .command('next')
    .summary('show the next runs of schedules, or explain an expression')
    .description(
      'Explains a schedule of this project, or an expression, in words, and prints its next runs. Without a name it prints the next runs of all schedules in chronological order. Anything that contains a space or a comma, begins with @, or is a built-in word such as EVERY_DAY or HOURLY is taken as an expression, which needs no project.',
    )
    .argument('[schedule]', 'the name of a schedule, a cron expression, a repeat or a word such as EVERY_DAY')
    .option('--count <n>', 'number of runs', wholeNumber(1, 1_000), 10)
    .option('--zone <zone>', 'also show the times in this time zone; cron expressions are evaluated in it', zone)
    .option('--from <time>', 'start from this time instead of now, such as 2026-06-10T09:00:00Z', instant)
    .addHelpText(
      'after',
      examples(
        ['next', 'of all schedules'],
        ['next digest --count 3', ''],
        ['next digest --zone America/New_York', 'in its own time zone and this one'],
        [`next '30 2 * * 1-5' --zone Europe/Paris`, 'explain this expression'],
        [`next 'FINISHED, +1 HOUR'`, 'a repeat: counted from the previous run'],
        ['next EVERY_DAY', 'explain this word'],
      ),
    )
    .action((name: string | undefined, options: NextOptions, command: Command) => {
      if (name === undefined) return withJobs(command, (session) => tellAll(session, options), lookOnly)
      if (!isExpression(name)) return withJobs(command, (session) => tellOne(session, name, options), lookOnly)
      const schedule = parseExpression(name, options.zone)
      return withOutput(command, async (session) => tellExpression(session, schedule, options))
    })
}

async function tellAll({ jobs, out, now }: ProjectSession, options: NextOptions): Promise<void> {
  const schedules = await readSchedules(jobs, now, true)
  const followed = schedules.filter(({ state }) => state === 'active' || state === 'new')
  const named = await Promise.all(
    followed.map(async (status) => ({
      name: status.schedule,
      schedule: await scheduleNamed(jobs, status.schedule),
      standing: standingOf(status),
    })),
  )
  const runs = mergedRuns(named, wanted(options, now))
  out.answer(runs, () => mergedText(runs, out, { ...options, now }))
  const shown = runs.map(({ schedule }) => schedule)
  const later = followed.filter(({ schedule }) => !shown.includes(schedule))
  if (!out.json) for (const note of [...laterNote(later, { ...options, now }), ...leftOutNote(schedules)]) out.note(note)
}

async function tellOne({ jobs, out, now }: ProjectSession, name: string, options: NextOptions): Promise<void> {
  const schedule = await scheduleNamed(jobs, name)
  const known = await readSchedules(jobs, now, true)
  const status = known.find((each) => each.schedule === name) ?? (known.find(({ key }) => key === name) as ScheduleStatus)
  const answer = explained(schedule, wanted(options, now), standingOf(status))
  out.answer({ schedule: name, state: status.state, ...answer }, () => explainedText(answer, out, { ...options, now }))
  if (!out.json) for (const note of leftOutNote([status])) out.note(`${note}; these would be its next runs`)
}

function tellExpression({ out, now }: Session, schedule: Schedule, options: NextOptions): void {
  const answer = explained(schedule, wanted(options, now), { kind: 'never run' })
  out.answer(answer, () => explainedText(answer, out, { ...options, now }))
}

function standingOf({ beginsAtOnce, nextAt }: ScheduleStatus): Standing {
  if (beginsAtOnce) return { kind: 'never run' }
  return nextAt === null ? { kind: 'unknown' } : { kind: 'next', at: Date.parse(nextAt) }
}

function wanted({ count, zone, from }: NextOptions, now: number): RunsWanted {
  return { from: from?.getTime() ?? now, count, ...(zone !== undefined && { zone }) }
}
