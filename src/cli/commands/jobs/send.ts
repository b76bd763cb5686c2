import { readFileSync } from 'node:fs'
import { type Command, Option } from 'commander'
import type { WhyRule } from '../../../app/handles/why.ts'
import type { Treadle } from '../../../app/treadle.ts'
import { messageOf } from '../../../core/errors.ts'
import type { DispatchOptions } from '../../../definition/dispatching/dispatch.ts'
import { noPayload } from '../../../definition/dispatching/draft.ts'
import type { Run } from '../../../definition/dispatching/run.ts'
import type { Priority } from '../../../definition/policies/priority.ts'
import { type OnConflict, onConflicts } from '../../../definition/policies/uniqueness.ts'
import { examples } from '../../examples.ts'
import { UsageError } from '../../failure.ts'
import { refuseUnknownJobs } from '../../jobs/known-jobs.ts'
import { parseJsonText } from '../../json-text.ts'
import type { Output } from '../../output/output.ts'
import { visibleLine } from '../../output/text.ts'
import { type GlobalOptions, withJobs } from '../../session.ts'
import { duration, instant, key, priority, queue, tags, uniqueTime, wholeNumber } from '../../values.ts'

interface SendOptions {
  readonly payloadFile?: string
  readonly delay?: string
  readonly at?: Date
  readonly queue?: string
  readonly priority?: Priority
  readonly retries?: number
  readonly timeout?: string
  readonly group?: string
  readonly tag?: readonly string[]
  readonly unique?: string
  readonly uniqueUntil?: string
  readonly onConflict?: OnConflict
  readonly key?: string
  readonly wait?: string | true
  readonly force?: boolean
}

export function addSend(program: Command): void {
  program
    .command('send')
    .summary('put a job into the queue')
    .argument('<job>', 'the name of the job')
    .argument('[payload]', 'its payload as JSON, or - to read it from standard input')
    .option('--payload-file <file>', 'read the payload from a file')
    .option('--delay <duration>', 'run it after this delay', duration)
    .option('--at <time>', 'run it at this time, such as 2026-06-10T09:00:00Z', instant)
    .option('--queue <queue>', "use this queue instead of the job's own", queue)
    .option('--priority <priority>', 'an integer (higher runs sooner), or low, normal, high, critical', priority)
    .option('--retries <n>', 'further attempts after the first one fails, instead of what the job defines', wholeNumber(0, 1_000))
    .option('--timeout <duration>', 'how long an attempt may take, instead of what the job defines', duration)
    .option('--group <group>', 'the group it belongs to, such as a customer, instead of the one the job defines', key)
    .option('--tag <tag>', 'a tag to find it by; can be repeated', tags)
    .option('--unique <key>', 'unique key: do nothing while another job holds it', key)
    .option('--unique-until <time>', 'how long the key is held: started, ended (the default), ever, or a duration', uniqueTime)
    .addOption(new Option('--on-conflict <what>', 'what to do with the waiting job that holds the key').choices(onConflicts))
    .option('--key <key>', 'idempotency key: skip the run once a job with this key has succeeded', key)
    .option('--wait [timeout]', 'wait until it has finished and print its result', (text: string) => duration(text))
    .option('--force', 'send it even if no job with this name is defined here')
    .addHelpText(
      'after',
      examples(
        [`send send-email '{"to":"ada@example.com"}'`, ''],
        ['send report --delay 10m', ''],
        ['send report - < payload.json', ''],
        [`send add '{"a":1,"b":2}' --wait 30s`, 'prints the result'],
      ),
    )
    .action((job: string, payload: string | undefined, options: SendOptions, command: Command) => {
      if (options.delay !== undefined && options.at !== undefined) throw new UsageError('give either --delay or --at')
      if (options.unique === undefined && (options.uniqueUntil ?? options.onConflict) !== undefined)
        throw new UsageError('--unique-until and --on-conflict need --unique')
      const given = readPayload(payload, options.payloadFile)
      return withJobs(command, async ({ jobs, out }) => {
        if (options.force && !jobs.has(job)) jobs.declare(job)
        refuseUnknownJobs(jobs, [job], ' Use --force to send it for another program.')
        const { backend } = command.optsWithGlobals<GlobalOptions>()
        const run = await jobs.dispatch(job, given, { ...dispatchOptions(options), ...(backend !== undefined && { backend }) })
        const told = sentText(run, options.onConflict ?? conflictOf(jobs, job))
        if (options.wait === undefined) return out.answer({ id: run.id, job: run.job, created: run.created }, () => told)
        if (!out.json) {
          out.note(told)
          await noteObstacles(run.id, jobs, out)
        }
        const result = await run.result(options.wait === true ? {} : { timeout: options.wait })
        out.answer({ id: run.id, job: run.job, created: run.created, result }, () => JSON.stringify(result ?? null, null, 2))
      })
    })
}

/** Otherwise the wait would be silent, and without a timeout endless. */
async function noteObstacles(id: string, jobs: Treadle, out: Output): Promise<void> {
  const why = await jobs.why(id).catch(() => null) // A broker cannot tell.
  const obstacles = why?.reasons.filter(({ rule }) => lasting.includes(rule)) ?? []
  for (const { message } of obstacles) out.note(`note: ${visibleLine(message)}`)
}

/** What does not pass by itself. */
const lasting: readonly WhyRule[] = ['no-worker', 'no-handler', 'paused']

/** Returns the given payload, or `noPayload`. */
export function readPayload(argument: string | undefined, file: string | undefined): unknown {
  if (argument !== undefined && file !== undefined)
    throw new UsageError('give the payload either as an argument or with --payload-file')
  if (file !== undefined) return parseJsonText(readText(file, file), `the payload in ${file}`)
  if (argument === '-') return parseJsonText(readText(process.stdin.fd, 'the standard input'), 'the payload on standard input')
  return argument === undefined ? noPayload : parseJsonText(argument, 'the payload')
}

function readText(source: string | number, name: string): string {
  try {
    return readFileSync(source, 'utf8')
  } catch (thrown) {
    throw new UsageError(`the payload cannot be read from ${name}: ${messageOf(thrown)}`)
  }
}

function dispatchOptions(options: SendOptions): DispatchOptions {
  const { delay, at, queue, priority, retries, timeout, group, tag, unique, uniqueUntil, onConflict, key } = options
  return {
    ...(delay !== undefined && { delay }),
    ...(at !== undefined && { at }),
    ...(queue !== undefined && { queue }),
    ...(priority !== undefined && { priority }),
    ...(retries !== undefined && { retries }),
    ...(timeout !== undefined && { timeout }),
    ...(group !== undefined && { group }),
    ...(tag !== undefined && { tags: tag }),
    ...(unique !== undefined && {
      unique: {
        key: unique,
        ...(uniqueUntil !== undefined && { until: uniqueUntil }),
        ...(onConflict !== undefined && { onConflict }),
      },
    }),
    ...(key !== undefined && { idempotencyKey: key }),
  }
}

function conflictOf(jobs: Treadle, job: string): OnConflict | undefined {
  return jobs.definitions().find((definition) => definition.job === job)?.fields.unique?.onConflict
}

export function sentText(run: Run, onConflict: OnConflict = 'ignore'): string {
  if (run.created) return `sent ${run.job} ${run.id}`
  const change = onConflict === 'ignore' ? '' : ', and was updated unless a worker has claimed it'
  return `no new job: ${run.job} ${run.id} holds the unique key${change}`
}
