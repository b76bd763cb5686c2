import { type Command, Option } from 'commander'
import { messageOf } from '../core/errors.ts'
import type { JobDefinition } from '../definition/definition.ts'
import { workerConfig } from '../worker/config.ts'
import type { DaemonOptions, RunOptions, WorkKind } from '../worker/options.ts'
import { UsageError } from './failure.ts'
import { collect, duration, queues, share, wholeNumber } from './values.ts'

/** What the commands have in common that run jobs. */
export interface WorkerCommandOptions {
  readonly concurrency?: number
  readonly queue?: readonly string[]
  readonly job?: readonly string[]
  readonly lease?: string
  readonly ageing?: string
  readonly maxLoad?: number
  readonly scheduler: boolean
  readonly single?: boolean
}

export function workerOptions(command: Command): Command {
  return command
    .option('--concurrency <n>', 'so many jobs at once (default: 10)', wholeNumber(1, 10_000))
    .option('--queue <queue>', 'only from this queue; may be repeated', queues)
    .option('--job <job>', 'only jobs with this key; may be repeated', collect)
    .option('--lease <duration>', 'how long a job stays with a worker that is silent (default: 30s)', duration)
    .option('--ageing <duration>', 'so much waiting counts as one level of priority (default: none)', duration)
    .option('--max-load <share>', 'run fewer jobs at once while more than this share of the cores is in use, such as 0.8', share)
    .option('--no-scheduler', 'do not follow schedules')
    .addOption(new Option('--single', 'follow schedules only while no other scheduler with --single does').conflicts('scheduler'))
}

/** Only what the command line says: what it does not say is left to the config and the defaults. */
export function givenWorkerOptions(options: WorkerCommandOptions): Pick<RunOptions, CommonName> {
  const { concurrency, queue, job, lease, ageing, maxLoad, scheduler, single } = options
  return {
    ...(concurrency !== undefined && { concurrency }),
    ...(queue && { queues: queue }),
    ...(job && { jobs: job }),
    ...(lease && { lease }),
    ...(ageing && { ageing }),
    ...(maxLoad !== undefined && { maxLoad }),
    ...(!scheduler && { scheduler: false }),
    ...(single && { scheduler: 'single' }),
  }
}

type CommonName = 'concurrency' | 'queues' | 'jobs' | 'lease' | 'ageing' | 'maxLoad' | 'scheduler'

/** The library knows the ranges; what it refuses of the command line alone is a mistake in how the command was called. */
export function refuseWrongValues(given: DaemonOptions & RunOptions, kind: WorkKind): void {
  try {
    workerConfig(given, kind)
  } catch (thrown) {
    throw new UsageError(messageOf(thrown).replace(/^[^:;]* options are invalid: /, ''))
  }
}

/** A queue that no job is sent to by itself is most often a misspelt one. */
export function unusedQueuesNote(definitions: readonly JobDefinition[], queues: readonly string[] = []): string | undefined {
  const used = new Set(definitions.map(({ fields }) => fields.queue))
  const unused = queues.filter((queue) => !used.has(queue))
  if (unused.length === 0) return undefined
  return `note: no job that is defined here uses the queue ${unused.join(', ')}; in use: ${[...used].toSorted().join(', ')}`
}
