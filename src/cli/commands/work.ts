import type { Command } from 'commander'
import { examples } from '../examples.ts'
import { withJobs } from '../session.ts'
import { duration } from '../values.ts'
import { givenWorkerOptions, refuseWrongValues, type WorkerCommandOptions, workerOptions } from '../worker-options.ts'
import { keepWorking } from '../working.ts'

interface WorkCommandOptions extends WorkerCommandOptions {
  readonly grace?: string
  readonly quiet?: boolean
}

export function addWork(program: Command): void {
  workerOptions(program.command('work'))
    .summary('run jobs and follow schedules until Ctrl-C')
    .description(
      'Runs jobs and follows schedules until SIGTERM or Ctrl-C, then waits for what runs. A second Ctrl-C aborts it and gives it back. Any number of workers may run.',
    )
    .option('--grace <duration>', 'how long to wait for running jobs at the end (default: 30s)', duration)
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
    .action((options: WorkCommandOptions, command: Command) => {
      const { grace, quiet = false } = options
      const given = { ...givenWorkerOptions(options), ...(grace && { grace }) }
      refuseWrongValues(given, 'work')
      return withJobs(command, (session) => keepWorking(session, { kind: 'work', given, quiet }))
    })
}
