import { type Command, Option } from 'commander'
import { mostProcesses } from '../../../worker/supervisor/config.ts'
import { examples } from '../../examples.ts'
import { UsageError } from '../../failure.ts'
import { superviseWorking } from '../../processes/supervise.ts'
import { readSupervision, Supervised, type Supervision } from '../../processes/supervised.ts'
import { watchWorking } from '../../processes/watch-working.ts'
import { workSupervised } from '../../processes/work-supervised.ts'
import { type GlobalOptions, withJobs, withOutput } from '../../session.ts'
import { duration, memory, wholeNumber } from '../../values.ts'
import { givenWorkerOptions, refuseWrongValues, type WorkerCommandOptions, workerOptions } from '../../working/worker-options.ts'
import { keepWorking } from '../../working/working.ts'

interface WorkCommandOptions extends WorkerCommandOptions {
  readonly grace?: string
  readonly quiet?: boolean
  readonly processes?: number
  readonly maxJobs?: number
  readonly maxMemory?: number
  readonly maxTime?: string
  readonly healthPort?: number
  readonly healthHost?: string
  readonly supervised?: Supervision
  readonly once?: boolean
  readonly watch?: boolean
}

export function addWork(program: Command): void {
  workerOptions(program.command('work'))
    .summary('run jobs and follow schedules until Ctrl-C')
    .description(
      'Runs jobs and follows schedules until SIGTERM or Ctrl-C, then waits for running jobs to finish. A second Ctrl-C aborts them and returns them to the queue. Any number of workers can run.\n\nWith --processes it supervises that many worker processes: a process that dies is restarted and its jobs go back to the queue at once, a process that cannot stop a job at its timeout is killed, and signals are passed to all of them; a third Ctrl-C kills them. SIGHUP replaces them one after the other, unless it comes from a closed terminal.',
    )
    .option('--grace <duration>', 'how long to wait for running jobs on shutdown (default: 30s)', duration)
    .option('--quiet', 'only print errors and warnings')
    .option('--once', 'run everything that is due, then exit')
    .option('--watch', 'for development: restart when a source file of the project changes')
    .option('--processes <n>', 'number of worker processes', wholeNumber(1, mostProcesses))
    .option('--max-jobs <n>', 'exit after about this many jobs; with --processes, replace the process', wholeNumber(1))
    .option('--max-memory <size>', 'exit above this much memory, such as 512mb; with --processes, replace the process', memory)
    .option(
      '--health-port <port>',
      'answer GET /ready, /live and /metrics on this port, for orchestrators and Prometheus',
      wholeNumber(0, 65_535),
    )
    .option('--health-host <host>', 'the address of --health-port (default: 127.0.0.1)')
    .option('--max-time <duration>', 'exit after this time, such as 1h', duration)
    .addOption(new Option('--supervised <by>').argParser(readSupervision).hideHelp())
    .addHelpText(
      'after',
      examples(
        ['work', ''],
        ['work --concurrency 50 --queue mail', 'a worker for one queue'],
        ['work --no-scheduler --grace 5m', ''],
        ['work --once', 'run everything that is due, then exit'],
        ['work --json | tee work.log', 'one JSON object per line'],
        ['work --watch', 'for development: restart when a file changes'],
        ['work --processes 4', 'four processes; kill -HUP replaces them one by one'],
        ['work --max-time 1h --max-memory 512mb', 'exits by itself, for a supervisor that restarts it'],
        ['work --processes 4 --max-jobs 10000 --max-memory 512mb', 'replace processes before they grow'],
      ),
    )
    .action(work)
}

function work(options: WorkCommandOptions, command: Command): Promise<void> {
  const { grace, quiet = false, processes, maxJobs, maxMemory, maxTime, once = false } = options
  const given = { ...givenWorkerOptions(options, command), ...(grace && { grace }) }
  refuseWrongValues(given, 'work')
  if (options.watch === true)
    return withOutput(command, ({ out }) => watchWorking(out, command.optsWithGlobals<GlobalOptions>().config))
  if (processes === undefined) {
    const bounds = { ...(maxJobs && { maxJobs }), ...(maxMemory && { maxMemory }), ...(maxTime && { maxTime }) }
    const { healthPort: port, healthHost: host } = options
    const health = port === undefined ? {} : { health: { port, ...(host && { host }) } }
    return withJobs(command, (session) => keepWorking(session, { kind: 'work', given, quiet, once, bounds, ...health }))
  }
  if (options.healthPort !== undefined) throw new UsageError('--health-port is for a worker without --processes')
  if (once) throw new UsageError('--once is for a worker without --processes')
  if (maxTime !== undefined) throw new UsageError('--max-time is for a worker without --processes')
  const recycling = { ...(maxJobs && { maxJobs }), ...(maxMemory && { maxMemoryBytes: maxMemory }) }
  if (options.supervised === undefined) {
    return withJobs(command, (session) => superviseWorking(session, { given, quiet, processes: { processes, ...recycling } }))
  }
  const supervised = new Supervised(options.supervised)
  const tellsUsage = Object.keys(recycling).length > 0
  return supervised.failing(withJobs(command, (session) => workSupervised(session, { given, quiet, supervised, tellsUsage })))
}
