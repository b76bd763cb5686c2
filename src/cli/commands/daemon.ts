import type { Command } from 'commander'
import { examples } from '../examples.ts'
import { type GlobalOptions, withJobs } from '../session.ts'
import { duration, wholeNumber } from '../values.ts'
import { givenWorkerOptions, refuseWrongValues, type WorkerCommandOptions, workerOptions } from '../worker-options.ts'
import { keepWorking } from '../working.ts'

interface DaemonCommandOptions extends WorkerCommandOptions {
  readonly grace?: string
  readonly quiet?: boolean
  readonly tick?: string
  readonly maxOverruns?: number
}

export function addDaemon(program: Command): void {
  workerOptions(program.command('daemon'))
    .summary('as work, with schedules on a fixed beat')
    .description(
      'Runs jobs as "work" does, and looks at the schedules on a fixed beat that does not drift. It prints a line for each look that stored runs, with --verbose for every look, and at the end how well it kept time.',
    )
    .option('--tick <duration>', 'how often to look at the schedules, from 1s to 1h (default: 1m)', duration)
    .option(
      '--max-overruns <n>',
      'end with exit code 1 after so many ticks in a row that took longer than the tick; 0 is never (default: 5)',
      wholeNumber(0, 1_000_000),
    )
    .option('--grace <duration>', 'how long to wait for running jobs at the end (default: 30s)', duration)
    .option('--quiet', 'print only trouble')
    .addHelpText(
      'after',
      examples(
        ['daemon', ''],
        ['daemon --tick 10s --verbose', 'prints every tick'],
        ['daemon --single', 'others wait until this one has ended'],
        ['daemon --json | tee daemon.log', 'one JSON object a line'],
      ),
    )
    .action((options: DaemonCommandOptions, command: Command) => {
      const { grace, tick, maxOverruns, quiet = false } = options
      const given = {
        ...givenWorkerOptions(options),
        ...(grace && { grace }),
        ...(tick && { tick }),
        ...(maxOverruns !== undefined && { maxOverruns }),
      }
      refuseWrongValues(given, 'daemon')
      const { verbose = false } = command.optsWithGlobals<GlobalOptions>()
      return withJobs(command, (session) => keepWorking(session, { kind: 'daemon', given, quiet, verbose }))
    })
}
