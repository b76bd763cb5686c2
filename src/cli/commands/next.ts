import type { Command } from 'commander'
import type { Schedule } from '../../scheduling/schedule.ts'
import { examples } from '../examples.ts'
import { explained, mergedRuns, type RunsWanted, type Standing } from '../next-runs.ts'
import { explainedText, laterNote, leftOutNote, mergedText } from '../output/next-runs.ts'
import { isExpression, parseExpression } from '../schedule-expression.ts'
import { readSchedules, type ScheduleStatus, scheduleInCode } from '../schedules.ts'
import { lookOnly, type ProjectSession, type Session, withJobs, withOutput } from '../session.ts'
import { instant, wholeNumber, zone } from '../values.ts'

interface NextOptions {
  readonly count: number
  readonly zone?: string
  readonly from?: Date
}

export function addNext(program: Command): void {
  program
    .command('next')
    .summary('when schedules run next, and what an expression means')
    .description(
      'Tells a schedule of this program, or an expression, in words, with its next runs; without a name, the next runs of all schedules in the order of time. What has a space or a comma in it, begins with @, or is a built-in word such as EVERY_DAY or HOURLY is an expression: it needs no project.',
    )
    .argument('[schedule]', 'the name of a schedule, a cron expression, a repeat or a word such as EVERY_DAY')
    .option('--count <n>', 'so many runs', wholeNumber(1, 1_000), 10)
    .option('--zone <zone>', 'show the times in this time zone too; a cron expression is read in it', zone)
    .option('--from <time>', 'runs after this time in place of now, such as 2026-06-10T09:00:00Z', instant)
    .addHelpText(
      'after',
      examples(
        ['next', 'of all schedules'],
        ['next digest --count 3', ''],
        ['next digest --zone America/New_York', 'in its own zone and in this one'],
        [`next '30 2 * * 1-5' --zone Europe/Paris`, 'what does this expression mean?'],
        [`next 'FINISHED, +1 HOUR'`, 'a repeat: counted from the run before'],
        ['next EVERY_DAY', 'what is this word?'],
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
  const named = followed.map((status) => ({
    name: status.schedule,
    schedule: scheduleInCode(jobs, status.schedule),
    standing: standingOf(status),
  }))
  const runs = mergedRuns(named, wanted(options, now))
  out.answer(runs, () => mergedText(runs, out, { ...options, now }))
  const shown = runs.map(({ schedule }) => schedule)
  const later = followed.filter(({ schedule }) => !shown.includes(schedule))
  if (!out.json) for (const note of [...laterNote(later, { ...options, now }), ...leftOutNote(schedules)]) out.note(note)
}

async function tellOne({ jobs, out, now }: ProjectSession, name: string, options: NextOptions): Promise<void> {
  const schedule = scheduleInCode(jobs, name)
  const status = (await readSchedules(jobs, now, true)).find((each) => each.schedule === name) as ScheduleStatus
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
