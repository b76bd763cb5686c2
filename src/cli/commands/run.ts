import type { Command } from 'commander'
import type { Treadle } from '../../app/treadle.ts'
import type { TreadleEvents } from '../../execution/events.ts'
import type { RunOptions } from '../../worker/options.ts'
import type { RunReport } from '../../worker/report.ts'
import { readDryRun } from '../dry-run.ts'
import { examples } from '../examples.ts'
import { exitCodes } from '../exit-codes.ts'
import { Interrupted } from '../failure.ts'
import { refuseUnknownJobs } from '../known-jobs.ts'
import { nothingStoredAt } from '../nothing-stored.ts'
import { dryRunText } from '../output/dry-run.ts'
import type { Output } from '../output/output.ts'
import { deathJson, eventLine, missedJson, missedText, reportText } from '../output/work-log.ts'
import { lookOnly, type ProjectSession, withJobs } from '../session.ts'
import { instant, wholeNumber } from '../values.ts'
import { watchSignals } from '../watched-signals.ts'
import {
  givenWorkerOptions,
  refuseWrongValues,
  unusedQueuesNote,
  type WorkerCommandOptions,
  workerOptions,
} from '../worker-options.ts'

interface RunCommandOptions extends WorkerCommandOptions {
  readonly limit?: number
  readonly at?: Date
  readonly dryRun?: boolean
  readonly failOnDead?: boolean
}

export function addRun(program: Command): void {
  workerOptions(program.command('run'))
    .summary('run everything that is due, once')
    .description(
      'One pass, for system cron: stores what the schedules say is due, runs all due jobs, and ends. With --single it ends with exit code 5 while another scheduler has the lock.',
    )
    .option('--limit <n>', 'at most so many jobs', wholeNumber(1))
    .option(
      '--at <time>',
      'store what schedules had at this time of the last 7 days, such as 2026-06-10T09:00:00Z, in place of now',
      instant,
    )
    .option('--dry-run', 'print what would be stored and run, and write nothing')
    .option('--fail-on-dead', 'end with exit code 3 when a job died')
    .addHelpText(
      'after',
      examples(
        ['run', ''],
        ['run --queue mail --limit 100', ''],
        ['run --dry-run', 'what would this pass do?'],
        ['run --at 2026-06-10T09:00:00Z', 'make up for what schedules had at that time'],
        ['run --fail-on-dead', 'for a script that wants to know'],
      ),
    )
    .action((options: RunCommandOptions, command: Command) => {
      const given = runOptions(options)
      refuseWrongValues(given, 'run')
      return options.dryRun
        ? withJobs(command, (session) => plan(session, given), lookOnly)
        : withJobs(command, (session) => pass(session, given, options.failOnDead ?? false))
    })
}

async function plan(session: ProjectSession, given: RunOptions): Promise<void> {
  const { jobs, out, now } = session
  refuseUnknownJobs(jobs, given.jobs ?? [])
  const report = await readDryRun(session, given)
  out.answer(report, () => dryRunText(report, out, now))
}

async function pass({ jobs, out }: ProjectSession, given: RunOptions, failOnDead: boolean): Promise<number> {
  const note = unusedQueuesNote(jobs.definitions(), given.queues)
  if (note !== undefined) out.note(note)
  const stop = watchSignals(out)
  const missed = noteMissed(jobs, out)
  const died = noteDeaths(jobs, out)
  const report = await jobs.run({ ...given, signals: true, signal: stop.signal })
  const whyNothing = given.at === undefined || report.enqueued > 0 ? null : await nothingStoredAt(jobs, given, given.at)
  if (report.dead > mostDeathsTold && !out.json) out.note('note: more jobs died than these: "treadle dead list" has them all')
  out.answer(
    { ...report, missed: missed.map(missedJson), died: died.map(deathJson) },
    () => reportText(report) || 'nothing was due',
  )
  if (whyNothing !== null && !out.json) out.note(`note: ${whyNothing}`)
  if (stop.name() === 'SIGINT') throw new Interrupted()
  return exitCodeOf(report, failOnDead)
}

/** A program finds them in the report. */
function noteMissed(jobs: Treadle, out: Output): readonly TreadleEvents['schedule:missed'][] {
  const missed: TreadleEvents['schedule:missed'][] = []
  jobs.on('schedule:missed', (event) => {
    missed.push(event)
    if (!out.json) out.note(`note: ${missedText(event)}`)
  })
  return missed
}

/** So many are told one by one. */
const mostDeathsTold = 20

/** Cron sends what is written: who reads that wants to know what died, and of what. */
function noteDeaths(jobs: Treadle, out: Output): readonly TreadleEvents['job:dead'][] {
  const died: TreadleEvents['job:dead'][] = []
  jobs.on('job:dead', (event) => {
    if (died.length === mostDeathsTold) return
    died.push(event)
    if (!out.json) out.note(eventLine('job:dead', event, out.colours))
  })
  return died
}

function exitCodeOf({ dead, failedSchedules }: RunReport, failOnDead: boolean): number {
  if (failOnDead && dead > 0) return exitCodes.deadJobs
  return failedSchedules > 0 ? exitCodes.failed : exitCodes.ok
}

function runOptions(options: RunCommandOptions): RunOptions {
  const { limit, at } = options
  return { ...givenWorkerOptions(options), ...(limit && { limit }), ...(at && { at }) }
}
