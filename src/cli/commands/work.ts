import { type Command, Option } from 'commander'
import { mostProcesses } from '../../worker/supervisor/config.ts'
import { examples } from '../examples.ts'
import { UsageError } from '../failure.ts'
import { superviseWorking } from '../processes/supervise.ts'
import { readSupervision, Supervised, type Supervision } from '../processes/supervised.ts'
import { workSupervised } from '../processes/work-supervised.ts'
import { withJobs } from '../session.ts'
import { duration, memory, wholeNumber } from '../values.ts'
import { givenWorkerOptions, refuseWrongValues, type WorkerCommandOptions, workerOptions } from '../worker-options.ts'
import { keepWorking } from '../working.ts'

interface WorkCommandOptions extends WorkerCommandOptions {
  readonly grace?: string
  readonly quiet?: boolean
  readonly processes?: number
  readonly maxJobs?: number
  readonly maxMemory?: number
  readonly supervised?: Supervision
}

export function addWork(program: Command): void {
  workerOptions(program.command('work'))
    .summary('run jobs and follow schedules until Ctrl-C')
    .description(
      'Runs jobs and follows schedules until SIGTERM or Ctrl-C, then waits for what runs. A second Ctrl-C aborts it and gives it back. Any number of workers may run.\n\nWith --processes it keeps so many worker processes: one that dies is started again and its jobs go back to the queue at once, one that can not end a job at its timeout is killed, and the signals go to all of them; a third Ctrl-C kills them. SIGHUP then replaces them one after the other, unless it is the end of the terminal.',
    )
    .option('--grace <duration>', 'how long to wait for running jobs at the end (default: 30s)', duration)
    .option('--quiet', 'print only trouble')
    .option('--processes <n>', 'so many worker processes', wholeNumber(1, mostProcesses))
    .option('--max-jobs <n>', 'with --processes: replace a process after about so many jobs', wholeNumber(1))
    .option('--max-memory <size>', 'with --processes: replace a process that has so much memory, such as 512mb', memory)
    .addOption(new Option('--supervised <by>').argParser(readSupervision).hideHelp())
    .addHelpText(
      'after',
      examples(
        ['work', ''],
        ['work --concurrency 50 --queue mail', 'a worker for one queue'],
        ['work --no-scheduler --grace 5m', ''],
        ['work --json | tee work.log', 'one JSON object a line'],
        ['work --processes 4', 'four processes; kill -HUP replaces them one after the other'],
        ['work --processes 4 --max-jobs 10000 --max-memory 512mb', 'and fresh ones before they grow'],
      ),
    )
    .action(work)
}

function work(options: WorkCommandOptions, command: Command): Promise<void> {
  const { grace, quiet = false, processes, maxJobs, maxMemory } = options
  const given = { ...givenWorkerOptions(options), ...(grace && { grace }) }
  refuseWrongValues(given, 'work')
  if (processes === undefined) {
    if (maxJobs !== undefined || maxMemory !== undefined) throw new UsageError('--max-jobs and --max-memory need --processes')
    return withJobs(command, (session) => keepWorking(session, { kind: 'work', given, quiet }))
  }
  const recycling = { ...(maxJobs && { maxJobs }), ...(maxMemory && { maxMemoryBytes: maxMemory }) }
  if (options.supervised === undefined) {
    return withJobs(command, (session) => superviseWorking(session, { given, quiet, processes: { processes, ...recycling } }))
  }
  const supervised = new Supervised(options.supervised)
  const tellsUsage = Object.keys(recycling).length > 0
  return supervised.failing(withJobs(command, (session) => workSupervised(session, { given, quiet, supervised, tellsUsage })))
}
