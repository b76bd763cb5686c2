import { shown } from '../../core/text/shown.ts'
import { type Duration, parseDuration } from '../../core/time/duration.ts'
import { type Instant, parseInstant } from '../../core/time/instant.ts'
import type { Keep } from '../fields.ts'
import type { Meta } from '../meta.ts'
import { refuse, switchProblem } from '../names.ts'
import type { DeliveryMode } from '../policies/delivery.ts'
import { type Priority, priorityNumber, priorityProblem } from '../policies/priority.ts'
import type { Tags } from '../tags.ts'
import { subjectOf, type WordTable } from './word-table.ts'

/** How long to keep finished jobs, by outcome. */
export type KeepOptions = { readonly [Outcome in keyof Keep]?: Duration }

/** Builder methods that describe a job and where it is stored. */
export interface DescriptionWords {
  /** The display name in lists and logs; null is the key. */
  named(name: string | null): this
  /** The queue of its jobs. Null uses the program's default, which is `default` unless configured. */
  queue(queue: string | null): this
  /** The name of the backend that stores its jobs, among those configured for the program; null is the default backend. */
  backend(backend: string | null): this
  /** Higher runs sooner; the default is 5 (`normal`). */
  priority(priority: Priority): this
  meta(meta: Meta): this
  /** Labels to search jobs by, in addition to those given at dispatch. */
  tags(...tags: readonly (string | Tags)[]): this
  /** Dispatched jobs do not run before this instant unless the dispatch gives another time; null means now. */
  scheduledAt(at: Instant | null): this
  /** How long finished jobs stay in the history; 0 deletes them at once. */
  keep(keep: KeepOptions): this
  /** Stores payloads encrypted (AES-256-GCM, with the signing key), so that only workers can read them. */
  encrypt(encrypt?: boolean): this
  /**
   * What happens if a worker dies during a run: the job runs again (`at-least-once`, the default), it never starts twice
   * (`at-most-once`), or it runs again and only one run's writes take effect (`effectively-once`, with `ctx.transaction`).
   */
  delivery(delivery: DeliveryMode): this
  enabled(enabled?: boolean): this
  disable(): this
  /** The schedule is active only if the program's environment is one of these. */
  environments(...environments: readonly (string | readonly string[])[]): this
}

export const descriptionWords = {
  named: (_, name: string | null) => ({ name: name ?? undefined }),
  queue: (_, queue: string | null) => ({ queue: queue ?? undefined }),
  backend: (_, backend: string | null) => ({ backend }),
  priority: (said, priority: Priority) => {
    refuse(subjectOf(said), [priorityProblem(priority)])
    return { priority: priorityNumber(priority) }
  },
  meta: (_, meta: Meta) => ({ meta }),
  tags: (_, ...tags: readonly (string | Tags)[]) => ({ tags: tags.flat() }),
  scheduledAt: (_, at: Instant | null) => ({ scheduledAt: at === null ? null : parseInstant(at, 'scheduledAt') }),
  keep: (said, keep: KeepOptions) => {
    const isObject = typeof keep === 'object' && keep !== null
    refuse(subjectOf(said), [isObject ? undefined : `keep must be an object such as { succeeded: '1d' }, got ${shown(keep)}`])
    return { keep: keptMs(keep) }
  },
  encrypt: (said, encrypt = true) => {
    refuse(subjectOf(said), [switchProblem(encrypt, 'encrypt')])
    return { encrypt }
  },
  delivery: (_, delivery: DeliveryMode) => ({ delivery }),
  enabled: (said, enabled = true) => {
    refuse(subjectOf(said), [switchProblem(enabled, 'enabled')])
    return { enabled }
  },
  disable: () => ({ enabled: false }),
  environments: (_, ...environments: readonly (string | readonly string[])[]) => ({ environments: environments.flat() }),
} as const satisfies WordTable<DescriptionWords>

/** An undefined time was not given, as in the options of a program. */
function keptMs(keep: KeepOptions): Partial<Keep> {
  const given = Object.entries(keep).filter(([, time]) => time !== undefined)
  return Object.fromEntries(given.map(([outcome, time]) => [outcome, parseDuration(time, `keep.${outcome}`)]))
}
