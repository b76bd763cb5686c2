import { type Command, Option } from 'commander'
import { messageOf } from '../../core/errors.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import { workerConfig } from '../../worker/config.ts'
import type { DaemonOptions, RunOptions, WorkKind } from '../../worker/options.ts'
import { UsageError } from '../failure.ts'
import type { GlobalOptions } from '../session.ts'
import { collect, duration, queues, share, wholeNumber } from '../values.ts'

/** The options shared by the commands that run jobs. */
export interface WorkerCommandOptions {
  readonly name?: string
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
    .option('--name <name>', 'what to call this worker in lists and logs (default: the name of the host)')
    .option('--concurrency <n>', 'maximum concurrent jobs (default: 10)', wholeNumber(1, 10_000))
    .option('--queue <queue>', 'only take jobs from this queue; can be repeated', queues)
    .option('--job <job>', "only jobs with this name, or matching a pattern such as 'mail-*'; can be repeated", collect)
    .option('--lease <duration>', 'how long a job stays claimed without a heartbeat (default: 30s)', duration)
    .option('--ageing <duration>', 'raise the priority of a waiting job by one level per this time (default: none)', duration)
    .option('--max-load <share>', 'run fewer concurrent jobs while CPU use is above this share, such as 0.8', share)
    .option('--no-scheduler', 'do not follow schedules')
    .addOption(new Option('--single', 'only follow schedules while no other --single scheduler does').conflicts('scheduler'))
}

/** Only the options given on the command line; the rest is left to the config and the defaults. */
export function givenWorkerOptions(options: WorkerCommandOptions, command: Command): Pick<RunOptions, CommonName> {
  const { name, concurrency, queue, job, lease, ageing, maxLoad, scheduler, single } = options
  const { backend } = command.optsWithGlobals<GlobalOptions>()
  return {
    ...(name !== undefined && { name }),
    ...(concurrency !== undefined && { concurrency }),
    ...(queue && { queues: queue }),
    ...(job && { jobs: job }),
    ...(lease && { lease }),
    ...(ageing && { ageing }),
    ...(maxLoad !== undefined && { maxLoad }),
    ...(!scheduler && { scheduler: false }),
    ...(single && { scheduler: 'single' }),
    ...(backend && { backend }),
  }
}

type CommonName = 'name' | 'concurrency' | 'queues' | 'jobs' | 'lease' | 'ageing' | 'maxLoad' | 'scheduler' | 'backend'

/** The library knows the valid ranges; values that it rejects from the command line alone are usage errors. */
export function refuseWrongValues(given: DaemonOptions & RunOptions, kind: WorkKind): void {
  try {
    workerConfig(given, kind)
  } catch (thrown) {
    throw new UsageError(messageOf(thrown).replace(/^[^:;]* options are invalid: /, ''))
  }
}

/** A queue that no job uses by default is most often a misspelt one. */
export function unusedQueuesNote(definitions: readonly JobDefinition[], queues: readonly string[] = []): string | undefined {
  const used = new Set(definitions.map(({ fields }) => fields.queue))
  const unused = queues.filter((queue) => !used.has(queue))
  if (unused.length === 0) return undefined
  return `note: no job that is defined here uses the queue ${unused.join(', ')}; in use: ${[...used].toSorted().join(', ')}`
}
