import { type Duration, parseDuration } from '../../core/time/duration.ts'
import { refuse, switchProblem } from '../names.ts'
import { type GroupOptions, grouping, groupOptionProblems } from '../policies/grouping.ts'
import { type IsolateKind, type IsolateOptions, isolationOf } from '../policies/isolation.ts'
import { rateOf } from '../policies/rate.ts'
import { type Key, keyMaker } from '../policies/uniqueness.ts'
import { subjectOf, type WordTable } from './word-table.ts'

/** Builder methods that limit runs. */
export interface LimitWords<Payload> {
  /** Aborts `ctx.signal` and fails the attempt after this much time; null is no limit. */
  timeout(timeout: Duration | null): this
  /** Like `timeout`, but a run that does not stop keeps its slot, so that no other run overlaps it; 0 or null is no limit. */
  maxRunningTime(time: Duration | null): this
  /**
   * Maximum number that run at once, across all workers; 0 is unlimited. Jobs over the limit wait without using up an attempt.
   */
  concurrency(limit: number): this
  singleInstance(single?: boolean): this
  /**
   * Maximum number that start within any period of this length, across all workers. The rest wait without using up an attempt.
   */
  rate(limit: number, per: Duration): this
  /**
   * Assigns jobs to groups (such as customers) that take turns: the group with the fewest running jobs goes first, and of those
   * the one served least recently. With limits, no group exceeds its own, and a group at its limit does not hold back the others.
   */
  group(key: Key<Payload>, options?: GroupOptions): this
  /**
   * Runs the handler in a worker thread or a child process of its own, which is killed at its deadline, on cancellation and at
   * the end of a shutdown, even if it blocks the event loop.
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
  singleInstance: (said, single = true) => {
    refuse(subjectOf(said), [switchProblem(single, 'singleInstance')])
    if (single) return { concurrency: 1 }
    return said.concurrency === 1 ? { concurrency: null } : {}
  },
  rate: (_, limit: number, per: Duration) => ({ rate: rateOf({ limit, per }, 'rate') }),
  group: (said, key: Key<never>, options: GroupOptions = {}) => {
    refuse(subjectOf(said), groupOptionProblems(options))
    return { group: grouping(keyMaker(key, 'group', subjectOf(said)), options) }
  },
  isolate: ({ job }, kind: IsolateKind, options: IsolateOptions = {}) => ({ isolation: isolationOf(job, kind, options) }),
} as const satisfies WordTable<LimitWords<never>>
