import { type Duration, parseDuration } from '../../core/time/duration.ts'
import { refuse } from '../names.ts'
import { type GroupOptions, grouping, groupOptionProblems } from '../policies/grouping.ts'
import { type IsolateKind, type IsolateOptions, isolationOf } from '../policies/isolation.ts'
import { rateOf } from '../policies/rate.ts'
import { type Key, keyMaker } from '../policies/uniqueness.ts'
import { subjectOf, type WordTable } from './word-table.ts'

/** How much a run may take, and how many run at once. */
export interface LimitWords<Payload> {
  /** After so much time `ctx.signal` is aborted and the attempt has failed; null is no limit. */
  timeout(timeout: Duration | null): this
  /** As `timeout`, but a run that does not end then keeps its slot, so that no other one overlaps it; 0 or null is no limit. */
  maxRunningTime(time: Duration | null): this
  /** At most this many at once, over all workers; 0 is unlimited. Jobs over the limit wait and burn no attempt. */
  concurrency(limit: number): this
  singleInstance(single?: boolean): this
  /** At most this many are started in any span of this time, over all workers. The rest wait and burn no attempt. */
  rate(limit: number, per: Duration): this
  /**
   * Whose job it is (a customer's, say). Groups take turns: the one with the fewest running jobs comes first, among those the
   * one that was served longest ago. With limits, no group gets more than its own, and one that is at its limit holds back nobody.
   */
  group(key: Key<Payload>, options?: GroupOptions): this
  /**
   * Runs the handler in a worker thread or a process of its own, where it is really killed at its deadline, on cancel and at the
   * end of a shutdown, also when it never lets go of the event loop.
   */
  isolate(kind: IsolateKind, options?: IsolateOptions): this
}

export const limitWords = {
  timeout: (_, timeout: Duration | null) => ({ timeoutMs: timeout === null ? null : parseDuration(timeout, 'timeout') }),
  maxRunningTime: (_, time: Duration | null) => {
    const maxRunningTimeMs = time === null ? null : parseDuration(time, 'maxRunningTime')
    return { maxRunningTimeMs: maxRunningTimeMs === 0 ? null : maxRunningTimeMs }
  },
  concurrency: (_, limit: number) => ({ concurrency: limit === 0 ? null : limit }),
  singleInstance: ({ concurrency }, single = true) =>
    single ? { concurrency: 1 } : concurrency === 1 ? { concurrency: null } : {},
  rate: (_, limit: number, per: Duration) => ({ rate: rateOf({ limit, per }, 'rate') }),
  group: (said, key: Key<never>, options: GroupOptions = {}) => {
    refuse(subjectOf(said), groupOptionProblems(options))
    return { group: grouping(keyMaker(key, 'group', subjectOf(said)), options) }
  },
  isolate: ({ job }, kind: IsolateKind, options: IsolateOptions = {}) => ({ isolation: isolationOf(job, kind, options) }),
} as const satisfies WordTable<LimitWords<never>>
