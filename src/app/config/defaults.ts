import { messageOf } from '../../core/errors.ts'
import { unknownOptions } from '../../core/options.ts'
import { shown } from '../../core/text/shown.ts'
import { type Duration, parseDuration } from '../../core/time/duration.ts'
import { waitProblem } from '../../definition/dispatching/workflow.ts'
import type { DefinitionFields } from '../../definition/fields.ts'
import { countProblem, queueProblem } from '../../definition/names.ts'
import { type Priority, priorityNumber, priorityProblem } from '../../definition/policies/priority.ts'
import { type Backoff, backoffOf } from '../../definition/policies/retry.ts'
import type { KeepOptions } from '../../definition/words/description-words.ts'

/** Defaults for all jobs that do not specify a value themselves. */
export interface JobDefaults {
  /** Maximum number of further attempts after the first one fails. Default: 0. */
  readonly retries?: number
  /** The delay before a retry. Default: exponential from one second to one minute, with full jitter. */
  readonly backoff?: Backoff
  /** Maximum duration of a run. Default: null, no limit. */
  readonly timeout?: Duration | null
  readonly queue?: string
  readonly priority?: Priority
  /** How long a job with the same idempotency key is skipped after one has succeeded. Default: 1 day. */
  readonly idempotencyTtl?: Duration
  /** Maximum time a job waits for its dependencies or children. Default: 7 days. */
  readonly waitAtMost?: Duration
  /** How long to keep ended jobs. */
  readonly keep?: KeepOptions
}

type Reading<Name extends keyof JobDefaults> = (value: NonNullable<JobDefaults[Name]>) => Partial<DefinitionFields>

/** Null removes a limit, which is also the default. */
const readings: { readonly [Name in keyof JobDefaults]-?: Reading<Name> } = {
  retries: (retries) => sound([countProblem(retries, 'retries')], () => ({ maxAttempts: retries + 1 })),
  backoff: (backoff) => ({ retry: backoffOf(backoff) }),
  timeout: (timeout) => {
    const timeoutMs = parseDuration(timeout, 'timeout')
    return sound([timeoutMs > 0 ? undefined : 'timeout must be more than 0 ms'], () => ({ timeoutMs }))
  },
  queue: (queue) => sound([queueProblem(queue)], () => ({ queue })),
  priority: (priority) => sound([priorityProblem(priority)], () => ({ priority: priorityNumber(priority) })),
  idempotencyTtl: (ttl) => ({ idempotencyTtlMs: parseDuration(ttl, 'idempotencyTtl') }),
  waitAtMost: (time) => {
    const longestWaitMs = parseDuration(time, 'waitAtMost')
    return sound([waitProblem(longestWaitMs)], () => ({ longestWaitMs }))
  },
  // Not a field of definitions: see `Settings.keep`.
  keep: () => ({}),
}

/** The defaults as fields of a definition. Problems are added to the list. */
export function defaultFields(defaults: JobDefaults, problems: string[]): Partial<DefinitionFields> {
  if (typeof defaults !== 'object' || defaults === null) {
    problems.push(`defaults must be an object such as { retries: 3 }, got ${shown(defaults)}`)
    return {}
  }
  problems.push(...unknownOptions(defaults, Object.keys(readings)).map((problem) => `defaults: ${problem}`))
  const said = Object.entries(defaults).filter(([name, value]) => value != null && Object.hasOwn(readings, name))
  const parts = said.map(([name, value]) => {
    try {
      return (readings[name as keyof JobDefaults] as Reading<keyof JobDefaults>)(value)
    } catch (thrown) {
      problems.push(`defaults: ${messageOf(thrown)}`)
      return {}
    }
  })
  return Object.assign({}, ...parts)
}

function sound<Fields>(problems: readonly (string | undefined)[], fields: () => Fields): Fields {
  const [problem] = problems.filter((each) => each !== undefined)
  if (problem !== undefined) throw new Error(problem)
  return fields()
}
