import type { Coordination, PatternClaims, QueueBackend } from '../../../queue/contract/contract.ts'
import type { ScheduleStore } from '../../../queue/contract/schedule-store.ts'
import type { JobStore } from '../../../queue/contract/store.ts'
import type { Transfer } from '../../../queue/contract/transfer.ts'
import type { SqlQueue } from '../../sql/queue.ts'
import type { Durability } from '../file/file-database.ts'

/** What the rules answer besides sending, claiming and settling jobs. */
export interface RuledParts extends Pick<QueueBackend, 'begin' | 'extend' | 'reap'> {
  readonly store: JobStore
  readonly coordination: Coordination
  readonly transfer: Transfer
  readonly patterns: PatternClaims
}

/** The path of a method of these parts, such as `store.schedules.pause`. */
export type RuleCall = string

/** How to run a call. */
export interface CallManner {
  /** Runs in the program's own thread if that is free: for calls that take well under a millisecond. */
  readonly isSmall: boolean
  /** Runs entirely in one transaction; otherwise the call takes the write lock only when it writes. */
  readonly isUnit: boolean
  readonly durability: Durability
}

/** Calls whose manner depends on what is asked for: what to add to their name in the lists below. */
const variants: Readonly<Record<RuleCall, (...args: never[]) => string>> = {
  'store.counts': (({ root } = {}) => (root === undefined ? 'counters' : 'tree')) satisfies Variant<JobStore['counts']>,
  'store.leases': ((filter) => ('ids' in filter ? 'ids' : 'owners')) satisfies Variant<JobStore['leases']>,
  'store.cancel': ((_, { tree = false } = {}) => (tree ? 'tree' : 'one')) satisfies Variant<JobStore['cancel']>,
  'store.sweep': (({ part }) => part) satisfies Variant<JobStore['sweep']>,
  'store.schedules.change': ((_, change) => change) satisfies Variant<ScheduleStore['change']>,
  'store.schedules.changes': ((_, limit) => (limit === 1 ? 'one' : 'many')) satisfies Variant<ScheduleStore['changes']>,
  'store.schedules.occurrences': ((query) => ('keys' in query ? 'keys' : 'last')) satisfies Variant<ScheduleStore['occurrences']>,
}

type Variant<Method extends (...args: never[]) => unknown> = (...args: Parameters<Method>) => string

const small: ReadonlySet<RuleCall> = new Set([
  'store.get',
  'store.counts counters',
  'store.leases ids',
  'store.cancel one',
  'store.amend',
  'store.links',
  'store.setPaused',
  'store.paused',
  'store.schedules.change pause',
  'store.schedules.change resume',
  'store.schedules.changes one',
  'store.schedules.occurrences last',
  'store.schedules.neighbours',
  'store.workers.announce',
  'store.workers.leave',
  'store.workers.list',
  'store.numbers.reserve',
  'store.numbers.assign',
  'store.numbers.find',
  'store.logs.read',
  'store.events.wanted',
  'store.events.listen',
  'store.events.leave',
  'coordination.lock',
  'coordination.unlock',
  'patterns.readyOf',
])

/** Calls that only read, or read before they write: an idle program must not keep others from writing. */
const looking: ReadonlySet<RuleCall> = new Set([
  'reap',
  'store.get',
  'store.list',
  'store.counts counters',
  'store.counts tree',
  'store.leases ids',
  'store.leases owners',
  'store.links',
  'store.remove',
  'store.paused',
  'store.holds',
  'store.sweep waits',
  'store.sweep logs',
  'store.sweep rollups',
  'store.schedules.register',
  'store.schedules.list',
  'store.schedules.standings',
  'store.schedules.changes one',
  'store.schedules.changes many',
  'store.schedules.occurrences keys',
  'store.schedules.occurrences last',
  'store.schedules.neighbours',
  'store.workers.list',
  'store.numbers.find',
  'store.logs.read',
  'store.rollups.read',
  'store.events.wanted',
  'store.events.read',
  'transfer.read',
  'transfer.parcels',
  'transfer.facts',
  'patterns.readyOf',
])

/**
 * Calls that a power cut may undo. Losing a lease renewal, progress report, event, log line or statistic is harmless. A power cut
 * also ends the holder of a lock on this file, and makes a worker's heartbeat meaningless.
 */
const relaxed: ReadonlySet<RuleCall> = new Set([
  'extend',
  'store.report',
  'store.sweep logs',
  'store.sweep rollups',
  'store.logs.append',
  'store.rollups.add',
  'store.events.append',
  'store.events.listen',
  'store.events.leave',
  'store.schedules.markSeen',
  'store.workers.announce',
  'store.workers.leave',
  'coordination.lock',
  'coordination.unlock',
])

export function mannerOf(call: RuleCall, args: readonly unknown[]): CallManner {
  const variant = variants[call]?.(...(args as never[]))
  const name = variant === undefined ? call : `${call} ${variant}`
  return {
    isSmall: small.has(name),
    isUnit: !looking.has(name),
    durability: relaxed.has(name) ? 'relaxed' : 'durable',
  }
}

type Method = (...args: never[]) => unknown

interface Part {
  readonly [name: string]: Method | Part
}

/** Every method of an object and of its nested objects, by path. */
export function methodsOf(part: object, prefix = ''): ReadonlyMap<RuleCall, Method> {
  const members = Object.entries(part as Part).flatMap(([name, member]) => {
    const path = `${prefix}${name}`
    return typeof member === 'function' ? [[path, member] as const] : [...methodsOf(member, `${path}.`)]
  })
  return new Map(members)
}

/** The rules of the queue, as they are called from outside. */
export function ruledParts({ leases: { begin, extend, reap }, store, coordination, patterns, transfer }: SqlQueue) {
  return { begin, extend, reap, store, coordination, patterns, transfer }
}

/** The same parts, with each method turned into a call by name. */
export function callers(shape: object, call: (name: RuleCall, args: readonly unknown[]) => Promise<unknown>): RuledParts {
  const made = (part: Part, prefix: string): object =>
    Object.fromEntries(
      Object.entries(part).map(([name, member]) => {
        const path = `${prefix}${name}`
        return [name, typeof member === 'function' ? (...args: readonly unknown[]) => call(path, args) : made(member, `${path}.`)]
      }),
    )
  return made(shape as Part, '') as RuledParts
}
