import type { Command } from 'commander'
import { examples } from '../../examples.ts'
import { type GlobalOptions, withJobs } from '../../session.ts'
import { duration, wholeNumber } from '../../values.ts'
import { givenWorkerOptions, refuseWrongValues, type WorkerCommandOptions, workerOptions } from '../../working/worker-options.ts'
import { keepWorking } from '../../working/working.ts'

interface DaemonCommandOptions extends WorkerCommandOptions {
  readonly grace?: string
  readonly quiet?: boolean
  readonly tick?: string
  readonly maxOverruns?: number
}

export function addDaemon(program: Command): void {
  workerOptions(program.command('daemon'))
    .summary('like work, but check schedules at a fixed interval')
    .description(
      'Runs jobs as "work" does, and checks the schedules at a fixed interval that does not drift. It prints a line for each tick that queued runs (with --verbose, for every tick), and at the end how accurate the ticks were.',
    )
    .option('--tick <duration>', 'how often to check the schedules, from 1s to 1h (default: 1m)', duration)
    .option(
      '--max-overruns <n>',
      'exit with code 1 after this many consecutive ticks that overran; 0 disables it (default: 5)',
      wholeNumber(0, 1_000_000),
    )
    .option('--grace <duration>', 'how long to wait for running jobs on shutdown (default: 30s)', duration)
    .option('--quiet', 'only print errors and warnings')
    .addHelpText(
      'after',
      examples(
        ['daemon', ''],
        ['daemon --tick 10s --verbose', 'prints every tick'],
        ['daemon --single', 'only one scheduler at a time; others wait'],
        ['daemon --json | tee daemon.log', 'one JSON object per line'],
      ),
    )
    .action((options: DaemonCommandOptions, command: Command) => {
      const { grace, tick, maxOverruns, quiet = false } = options
      const given = {
        ...givenWorkerOptions(options, command),
        ...(grace && { grace }),
        ...(tick && { tick }),
        ...(maxOverruns !== undefined && { maxOverruns }),
      }
      refuseWrongValues(given, 'daemon')
      const { verbose = false } = command.optsWithGlobals<GlobalOptions>()
      return withJobs(command, (session) => keepWorking(session, { kind: 'daemon', given, quiet, verbose }))
    })
}
