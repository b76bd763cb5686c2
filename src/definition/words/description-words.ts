import { shown } from '../../core/text/shown.ts'
import { type Duration, parseDuration } from '../../core/time/duration.ts'
import { type Instant, parseInstant } from '../../core/time/instant.ts'
import type { Keep } from '../fields.ts'
import type { Meta } from '../meta.ts'
import { refuse } from '../names.ts'
import type { DeliveryMode } from '../policies/delivery.ts'
import { type Priority, priorityNumber, priorityProblem } from '../policies/priority.ts'
import type { Tags } from '../tags.ts'
import { subjectOf, type WordTable } from './word-table.ts'

/** How long finished jobs are kept, by their outcome. */
export type KeepOptions = { readonly [Outcome in keyof Keep]?: Duration }

/** What a job is, and where it goes. */
export interface DescriptionWords<Input> {
  /** What people read in lists and logs in place of the key. */
  named(name: string): this
  /** Null is as the program says, which is `default` unless it says otherwise. */
  queue(queue: string | null): this
  /** The name of the backend that its jobs are kept in, of those that the program was given; null is the default one. */
  backend(backend: string | null): this
  /** Higher is sooner; the default is 5 (`normal`). */
  priority(priority: Priority): this
  /** The payload of scheduled runs, and of dispatches that give none. */
  args(payload: Input): this
  meta(meta: Meta): this
  /** Words that people find its jobs by, beside those that are said at a dispatch. */
  tags(...tags: readonly (string | Tags)[]): this
  /** Its dispatches do not run before this instant, unless they say another; null is at once. */
  scheduledAt(at: Instant | null): this
  /** How long ended jobs stay in the history; 0 deletes them at once. */
  keep(keep: KeepOptions): this
  /** Stores payloads encrypted (AES-256-GCM, with the signing key), so that only workers can read them. */
  encrypt(encrypt?: boolean): this
  /**
   * What is promised when a worker dies with the job: it is run again (`at-least-once`, the default), it is never begun twice
   * (`at-most-once`), or it is run again and only one run's writes are there (`effectively-once`, by `ctx.transaction`).
   */
  delivery(delivery: DeliveryMode): this
  enabled(enabled?: boolean): this
  disable(): this
  /** The schedule is followed only where the program's environment is one of these. */
  environments(...environments: readonly (string | readonly string[])[]): this
}

export const descriptionWords = {
  named: (_, name: string) => ({ name }),
  queue: (_, queue: string | null) => ({ queue: queue ?? undefined }),
  backend: (_, backend: string | null) => ({ backend }),
  priority: (said, priority: Priority) => {
    refuse(subjectOf(said), [priorityProblem(priority)])
    return { priority: priorityNumber(priority) }
  },
  args: (_, args: unknown) => ({ args }),
  meta: (_, meta: Meta) => ({ meta }),
  tags: (_, ...tags: readonly (string | Tags)[]) => ({ tags: tags.flat() }),
  scheduledAt: (_, at: Instant | null) => ({ scheduledAt: at === null ? null : parseInstant(at, 'scheduledAt') }),
  keep: (_, keep: KeepOptions) => ({ keep: keptMs(keep) }),
  encrypt: (said, encrypt = true) => {
    const isSwitch = typeof encrypt === 'boolean'
    refuse(subjectOf(said), [isSwitch ? undefined : `encrypt must be true or false, got ${shown(encrypt)}`])
    return { encrypt }
  },
  delivery: (_, delivery: DeliveryMode) => ({ delivery }),
  enabled: (_, enabled = true) => ({ enabled }),
  disable: () => ({ enabled: false }),
  environments: (_, ...environments: readonly (string | readonly string[])[]) => ({ environments: environments.flat() }),
} as const satisfies WordTable<DescriptionWords<never>>

export function keptMs(keep: KeepOptions): Partial<Keep> {
  return Object.fromEntries(Object.entries(keep).map(([outcome, time]) => [outcome, parseDuration(time, `keep.${outcome}`)]))
}
