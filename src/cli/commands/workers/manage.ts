import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { messageOf } from '../../../core/errors.ts'
import { systemClock } from '../../../core/time/clock.ts'
import type { ManagerEvent } from '../../../manager/events.ts'
import { examples } from '../../examples.ts'
import { exitCodes } from '../../exit-codes.ts'
import { UsageError } from '../../failure.ts'
import type { Output } from '../../output/output.ts'
import { isManagerTrouble, managerEventLine } from '../../output/workers/manager.ts'
import { withOutput } from '../../session.ts'
import { duration, wholeNumber } from '../../values.ts'
import { stopRequest } from '../../working/signals.ts'

interface ManageCommandOptions {
  readonly name: string
  readonly workers: string
  readonly host?: string
  readonly port?: number
  readonly token?: string
  readonly tls?: boolean
  readonly tlsCa?: string
  readonly maxLoad?: number
  readonly maxJobs?: number
  readonly timeLimit?: string
  readonly versionFile?: string
  readonly maxIterations?: number
  readonly quiet?: boolean
}

export function addManage(program: Command): void {
  program
    .command('manage')
    .summary('start a worker for each job of a job server')
    .description(
      'Asks a job server for jobs and starts a worker process for each: the file in the workers folder with the name of the job. That is a TypeScript or JavaScript module, whose default export is called with the data and the job, or any program, which gets the job as JSON on standard input. It starts no job while the load of the machine is too high.\n\nA worker that exits with 0 finishes the job, 75 retries it later, anything else fails it. On SIGTERM, Ctrl-C or a change of the version file it exits after the running jobs; a second signal stops them and returns them to the queue.',
    )
    .requiredOption('--name <pattern>', "which jobs: a pattern such as 'mail/*', or comma-separated names")
    .requiredOption('--workers <folder>', 'the folder with the workers')
    .option('--host <host>', 'host of the server (default: 127.0.0.1)')
    .option('--port <port>', 'port of the server (default: 8888)', wholeNumber(1, 65_535))
    .option('--tls', 'connect with TLS')
    .option('--tls-ca <file>', 'connect with TLS and trust this server or CA certificate (PEM)')
    .option('--token <token>', 'the token for the server; prefer TREADLE_TOKEN, which other users cannot see')
    .option('--max-load <n>', 'start no job unless the load average is below this (default: the number of cores)', load)
    .option('--max-jobs <n>', 'maximum concurrent jobs (default: 100)', wholeNumber(1, 10_000))
    .option('--time-limit <duration>', 'how long a job may take (default: 10m)', duration)
    .option('--version-file <file>', 'exit when this file changes')
    .option('--max-iterations <n>', 'exit after asking for jobs this many times', wholeNumber(1))
    .option('--quiet', 'only print errors and warnings')
    .addHelpText(
      'after',
      examples(
        [`manage --name '*' --workers ./workers`, ''],
        [`manage --name 'mail/*' --workers ./workers --max-load 5.0`, 'use the spare capacity of the machine'],
        [`manage --name '*' --workers ./workers --version-file REVISION`, 'exit on the next deployment'],
        [`manage --name '*' --workers ./workers --json | tee manage.log`, 'one JSON object per line'],
      ),
    )
    .action((options: ManageCommandOptions, command: Command) => withOutput(command, ({ out }) => run(options, out)))
}

/** Returns the exit code. */
async function run({ quiet = false, tlsCa, ...options }: ManageCommandOptions, out: Output): Promise<number> {
  const workers = resolve(options.workers)
  if (!(await isFolder(workers))) throw new UsageError(`--workers: there is no folder ${workers}`)
  const env = process.env as Record<string, string>
  const token = options.token || env.TREADLE_TOKEN
  const tls = tlsCa === undefined ? options.tls : { ca: await read(tlsCa) }
  const aborting = new AbortController()
  let more = 0
  const stop = stopRequest(
    () => out.note('stopping: waiting for running jobs; press Ctrl-C again to stop them and return them to the queue'),
    () => {
      if (++more > 1) process.exit(exitCodes.interrupted)
      aborting.abort()
    },
  )
  // Loaded only here, so that other commands start faster.
  const { manage } = await import('../../../manager/manager.ts')
  await manage({
    ...options,
    workers,
    env,
    ...(token && { token }),
    ...(tls !== undefined && { tls }),
    signal: stop.signal,
    abort: aborting.signal,
    onEvent: (event) => {
      if (!quiet || isManagerTrouble(event)) tell(event, out)
    },
  })
  return more > 0 ? exitCodes.interrupted : exitCodes.ok
}

function tell(event: ManagerEvent, out: Output): void {
  const at = new Date(systemClock.now()).toISOString()
  out.line(out.json ? JSON.stringify({ ...event, at }) : managerEventLine(event, out.colours))
}

/** A load average in the format that operating systems print. */
function load(text: string): number {
  const number = /^\d{1,6}(\.\d{1,3})?$/.test(text) ? Number(text) : 0
  if (number > 0) return number
  throw new InvalidArgumentError('It must be a load average above 0, such as 5.0.')
}

async function read(file: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (cause) {
    throw new UsageError(`--tls-ca: ${file} cannot be read: ${messageOf(cause)}`, 'USAGE', { cause })
  }
}

async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found?.isDirectory() === true
}
