import type { Command } from 'commander'
import type { Treadle } from '../../app/treadle.ts'
import { systemClock } from '../../core/clock.ts'
import { TreadleError } from '../../core/errors.ts'
import { type WorkOptions, workerConfig } from '../../worker/config.ts'
import { examples } from '../examples.ts'
import { exitCodes } from '../exit-codes.ts'
import { refuseUnknownJobs } from '../known-jobs.ts'
import type { Output } from '../output/output.ts'
import { eventJson, eventLine, isTrouble, loggedEvents, reportText } from '../output/work-log.ts'
import type { Project } from '../project.ts'
import { withJobs } from '../session.ts'
import { stopRequest } from '../signals.ts'
import { collect, duration, queues, wholeNumber } from '../values.ts'

interface WorkCommandOptions {
  readonly concurrency?: number
  readonly queue?: readonly string[]
  readonly job?: readonly string[]
  readonly lease?: string
  readonly grace?: string
  readonly scheduler: boolean
  readonly quiet?: boolean
}

export function addWork(program: Command): void {
  program
    .command('work')
    .summary('run jobs and follow schedules until Ctrl-C')
    .description(
      'Runs jobs and follows schedules until SIGTERM or Ctrl-C, then waits for what runs. A second Ctrl-C aborts it and gives it back. Any number of workers may run.',
    )
    .option('--concurrency <n>', 'so many jobs at once (default: 10)', wholeNumber(1, 10_000))
    .option('--queue <queue>', 'only from this queue; may be repeated', queues)
    .option('--job <job>', 'only jobs with this key; may be repeated', collect)
    .option('--lease <duration>', 'how long a job stays with a worker that is silent (default: 30s)', duration)
    .option('--grace <duration>', 'how long to wait for running jobs at the end (default: 30s)', duration)
    .option('--no-scheduler', 'do not follow schedules')
    .option('--quiet', 'print only trouble')
    .addHelpText(
      'after',
      examples(
        ['work', ''],
        ['work --concurrency 50 --queue mail', 'a worker for one queue'],
        ['work --no-scheduler --grace 5m', ''],
        ['work --json | tee work.log', 'one JSON object a line'],
      ),
    )
    .action((options: WorkCommandOptions, command: Command) =>
      withJobs(command, async ({ project, jobs, out }) => {
        const work = { ...project.worker, ...workOptions(options) }
        // Checked before anything is said of working.
        workerConfig(work, 'work')
        refuseUnknownJobs(jobs, work.jobs ?? [])
        refuseNothing(jobs)
        await jobs.open()
        const stop = watchSignals(out)
        log(jobs, out, options.quiet ?? false)
        if (!options.quiet) tellStart(project, out, work)
        const report = await jobs.work({ ...work, signals: true, signal: stop.signal })
        if (!options.quiet)
          tell(out, { event: 'worker:stopped', ...report }, `stopped: ${reportText(report) || 'nothing was done'}`)
        return stop.aborted() ? exitCodes.interrupted : exitCodes.ok
      }),
    )
}

function refuseNothing(jobs: Treadle): void {
  if (jobs.definitions().some(({ fields }) => fields.handler !== null)) return
  throw new TreadleError('CONFIG_INVALID', 'There is nothing to work on: no job is defined. Put one into the jobs folder.')
}

function workOptions({ concurrency, queue, job, lease, grace, scheduler }: WorkCommandOptions): WorkOptions {
  return {
    ...(concurrency !== undefined && { concurrency }),
    ...(queue && { queues: queue }),
    ...(job && { jobs: job }),
    ...(lease && { lease }),
    ...(grace && { grace }),
    ...(!scheduler && { scheduler }),
  }
}

/** The worker itself stops at the first signal and aborts at the second; here it is said, and the third ends the process. */
function watchSignals(out: Output): { readonly signal: AbortSignal; aborted(): boolean } {
  let more = 0
  const { signal } = stopRequest(
    () => out.note('stopping: waiting for running jobs; once more aborts them'),
    () => {
      more++
      if (more > 1) process.exit(exitCodes.interrupted)
      out.note('aborting')
    },
  )
  return { signal, aborted: () => more > 0 }
}

function log(jobs: Treadle, out: Output, quiet: boolean): void {
  for (const name of loggedEvents) {
    if (quiet && !isTrouble(name)) continue
    jobs.on(name, (event) => {
      out.line(out.json ? eventJson(name, event, systemClock.now()) : eventLine(name, event, out.colours))
    })
  }
}

function tellStart(
  { jobs, url, configPath }: Project,
  out: Output,
  { concurrency = 10, queues, jobs: only, scheduler = true }: WorkOptions,
): void {
  const defined = jobs.definitions().map(({ job }) => job)
  const names = only ?? defined
  const schedules = scheduler ? jobs.definitions().filter(({ fields }) => fields.schedule !== null).length : 0
  const lines = [
    `working on ${url}`,
    `  config       ${configPath ?? 'none'}`,
    `  queues       ${queues?.join(', ') ?? 'all'}`,
    `  jobs         ${names.join(', ') || 'none'}`,
    `  concurrency  ${concurrency}`,
    `  schedules    ${scheduler ? schedules : 'not followed here'}`,
  ]
  tell(
    out,
    { event: 'worker:started', url, config: configPath, queues: queues ?? null, jobs: names, concurrency, scheduler },
    lines.join('\n'),
  )
}

function tell(out: Output, event: object, text: string): void {
  out.line(out.json ? JSON.stringify({ ...event, at: new Date(systemClock.now()).toISOString() }) : text)
}
