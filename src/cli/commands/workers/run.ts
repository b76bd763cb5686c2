import { type Command, Option } from 'commander'
import type { Treadle } from '../../../app/treadle.ts'
import type { TreadleEvents } from '../../../execution/events.ts'
import type { RunOptions } from '../../../worker/options.ts'
import type { RunReport } from '../../../worker/runs/report.ts'
import { examples } from '../../examples.ts'
import { exitCodes } from '../../exit-codes.ts'
import { Interrupted } from '../../failure.ts'
import { refuseUnknownJobs } from '../../jobs/known-jobs.ts'
import type { Output } from '../../output/output.ts'
import { dryRunText } from '../../output/schedules/dry-run.ts'
import { deathJson, eventLine, missedJson, missedText, reportText } from '../../output/workers/work-log.ts'
import { readDryRun } from '../../schedules/dry-run.ts'
import { nothingStoredAt } from '../../schedules/nothing-stored.ts'
import { lookOnly, type ProjectSession, withJobs } from '../../session.ts'
import { instant, wholeNumber } from '../../values.ts'
import { watchSignals } from '../../working/watched-signals.ts'
import {
  givenWorkerOptions,
  refuseWrongValues,
  unusedQueuesNote,
  type WorkerCommandOptions,
  workerOptions,
} from '../../working/worker-options.ts'

/** Which job failures affect the exit code. */
const failOn = ['never', 'dead', 'failed'] as const
type FailOn = (typeof failOn)[number]

interface RunCommandOptions extends WorkerCommandOptions {
  readonly limit?: number
  readonly at?: Date
  readonly dryRun?: boolean
  readonly failOn: FailOn
}

export function addRun(program: Command): void {
  workerOptions(program.command('run'))
    .summary('run everything that is due, once')
    .description(
      'One pass, for system cron: queues the scheduled runs that are due, runs all due jobs, and exits. The exit code is 3 if a job failed for good, and with --single 5 if another scheduler holds the lock.',
    )
    .option('--limit <n>', 'maximum number of jobs', wholeNumber(1))
    .option(
      '--at <time>',
      'queue the runs that schedules had at this time, within the last 7 days, such as 2026-06-10T09:00:00Z',
      instant,
    )
    .option('--dry-run', 'print what would be queued and run, without writing anything')
    .addOption(
      new Option('--fail-on <what>', 'exit with code 3 if a job failed for good (dead), or if any attempt failed (failed)')
        .choices(failOn)
        .default('dead'),
    )
    .addHelpText(
      'after',
      examples(
        ['run', ''],
        ['run --queue mail --limit 100', ''],
        ['run --dry-run', 'preview what this pass would do'],
        ['run --at 2026-06-10T09:00:00Z', 'catch up the runs of that time'],
        ['run --fail-on never', 'exit with 0 even if jobs fail'],
      ),
    )
    .action((options: RunCommandOptions, command: Command) => {
      const given = runOptions(options, command)
      refuseWrongValues(given, 'run')
      return options.dryRun
        ? withJobs(command, (session) => plan(session, given), lookOnly)
        : withJobs(command, (session) => pass(session, given, options.failOn))
    })
}

async function plan(session: ProjectSession, given: RunOptions): Promise<void> {
  const { jobs, out, now } = session
  refuseUnknownJobs(jobs, given.jobs ?? [])
  const report = await readDryRun(session, given)
  out.answer(report, () => dryRunText(report, out, now))
}

async function pass({ jobs, out }: ProjectSession, given: RunOptions, failOn: FailOn): Promise<number> {
  const note = unusedQueuesNote(jobs.definitions(), given.queues)
  if (note !== undefined) out.note(note)
  // Until there is something to stop in stages, any signal ends the program.
  await jobs.open()
  const stop = watchSignals(out, () => void jobs.stop({ abort: true }))
  const missed = noteMissed(jobs, out)
  const died = noteDeaths(jobs, out)
  const report = await jobs.run({ ...given, signal: stop.signal })
  const whyNothing = given.at === undefined || report.enqueued > 0 ? null : await nothingStoredAt(jobs, given, given.at)
  if (report.dead > mostDeathsTold && !out.json) out.note('note: more jobs failed: "treadle dead list" shows them all')
  out.answer(
    { ...report, missed: missed.map(missedJson), died: died.map(deathJson) },
    () => reportText(report) || 'nothing was due',
  )
  if (whyNothing !== null && !out.json) out.note(`note: ${whyNothing}`)
  if (stop.name() === 'SIGINT') throw new Interrupted()
  return exitCodeOf(report, failOn)
}

/** JSON output has them in the report instead. */
function noteMissed(jobs: Treadle, out: Output): readonly TreadleEvents['schedule:missed'][] {
  const missed: TreadleEvents['schedule:missed'][] = []
  jobs.on('schedule:missed', (event) => {
    missed.push(event)
    if (!out.json) out.note(`note: ${missedText(event)}`)
  })
  return missed
}

/** Maximum number of dead jobs that are printed one by one. */
const mostDeathsTold = 20

/** Cron mails the output, and its reader wants to know which jobs died and why. */
function noteDeaths(jobs: Treadle, out: Output): readonly TreadleEvents['job:dead'][] {
  const died: TreadleEvents['job:dead'][] = []
  jobs.on('job:dead', (event) => {
    if (died.length === mostDeathsTold) return
    died.push(event)
    if (!out.json) out.note(eventLine('job:dead', event, out.colours))
  })
  return died
}

function exitCodeOf({ dead, retried, failedSchedules }: RunReport, failOn: FailOn): number {
  const failures = { never: 0, dead, failed: dead + retried }[failOn]
  if (failures > 0) return exitCodes.deadJobs
  return failedSchedules > 0 ? exitCodes.failed : exitCodes.ok
}

function runOptions(options: RunCommandOptions, command: Command): RunOptions {
  const { limit, at } = options
  return { ...givenWorkerOptions(options, command), ...(limit && { limit }), ...(at && { at }) }
}
