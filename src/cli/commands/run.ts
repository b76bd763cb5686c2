import type { Command } from 'commander'
import type { RunOptions } from '../../worker/config.ts'
import { examples } from '../examples.ts'
import { exitCodes } from '../exit-codes.ts'
import { Interrupted } from '../failure.ts'
import { reportText } from '../output/work-log.ts'
import { withJobs } from '../session.ts'
import { stopRequest } from '../signals.ts'
import { collect, duration, queues, wholeNumber } from '../values.ts'

interface RunCommandOptions {
  readonly queue?: readonly string[]
  readonly job?: readonly string[]
  readonly limit?: number
  readonly concurrency?: number
  readonly lease?: string
  readonly scheduler: boolean
  readonly failOnDead?: boolean
}

export function addRun(program: Command): void {
  program
    .command('run')
    .summary('run everything that is due, once')
    .description('One pass, for system cron: puts scheduled jobs that are due into the queue, runs all due jobs, and ends.')
    .option('--queue <queue>', 'only from this queue; may be repeated', queues)
    .option('--job <job>', 'only jobs with this key; may be repeated', collect)
    .option('--limit <n>', 'at most so many jobs', wholeNumber(1))
    .option('--concurrency <n>', 'so many jobs at once', wholeNumber(1))
    .option('--lease <duration>', 'how long a job stays with a worker that is silent', duration)
    .option('--no-scheduler', 'run only what is in the queue already')
    .option('--fail-on-dead', 'end with exit code 3 when a job died')
    .addHelpText(
      'after',
      examples(['run', ''], ['run --queue mail --limit 100', ''], ['run --fail-on-dead', 'for a script that wants to know']),
    )
    .action((options: RunCommandOptions, command: Command) =>
      withJobs(command, async ({ jobs, out }) => {
        const stop = stopRequest(
          () => out.note('stopping: waiting for running jobs; once more ends at once'),
          () => process.exit(exitCodes.interrupted),
        )
        const report = await jobs.run({ ...runOptions(options), signal: stop.signal })
        out.answer(report, () => reportText(report) || 'nothing was due')
        if (stop.name() === 'SIGINT') throw new Interrupted()
        return options.failOnDead && report.dead > 0 ? exitCodes.deadJobs : exitCodes.ok
      }),
    )
}

function runOptions({ queue, job, limit, concurrency, lease, scheduler }: RunCommandOptions): RunOptions {
  return {
    scheduler,
    ...(queue && { queues: queue }),
    ...(job && { jobs: job }),
    ...(limit && { limit }),
    ...(concurrency && { concurrency }),
    ...(lease && { lease }),
  }
}
