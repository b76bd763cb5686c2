import type { Coordination, PatternClaims, QueueBackend } from '../../../queue/contract/contract.ts'
import type { JobStore } from '../../../queue/contract/store.ts'
import type { Transfer } from '../../../queue/contract/transfer.ts'
import type { SqlQueue } from '../../sql/queue.ts'
import type { Durability } from '../file/file-database.ts'

/** What the rules answer beside sending, claiming and ending jobs. */
export interface RuledParts extends Pick<QueueBackend, 'begin' | 'extend' | 'reap'> {
  readonly store: JobStore
  readonly coordination: Coordination
  readonly transfer: Transfer
  readonly patterns: PatternClaims
}

/** A method of these parts, by its path: `store.schedules.pause`. */
export type RuleCall = string

/** How a call is made. */
export interface CallManner {
  /** In the program's own thread, where that is free: calls of well under a millisecond. */
  readonly isSmall: boolean
  /** In one transaction, whatever it consists of; otherwise it takes the write lock only where and when it writes. */
  readonly isUnit: boolean
  readonly durability: Durability
}

const small: ReadonlySet<RuleCall> = new Set([
  'store.get',
  'store.counts',
  'store.leasesOf',
  'store.cancel',
  'store.reschedule',
  'store.amend',
  'store.reject',
  'store.links',
  'store.pause',
  'store.resume',
  'store.pausedQueues',
  'store.pauseJob',
  'store.resumeJob',
  'store.pausedJobs',
  'store.schedules.revision',
  'store.schedules.recent',
  'store.schedules.neighbours',
  'store.schedules.pause',
  'store.schedules.resume',
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

/** Those that look before they write, or only look: an idle program keeps nobody from writing. */
const looking: ReadonlySet<RuleCall> = new Set([
  'reap',
  'store.get',
  'store.list',
  'store.counts',
  'store.leases',
  'store.leasesOf',
  'store.links',
  'store.tree',
  'store.mend',
  'store.remove',
  'store.pausedQueues',
  'store.pausedJobs',
  'store.holds',
  'store.schedules.register',
  'store.schedules.standings',
  'store.schedules.revision',
  'store.schedules.changes',
  'store.schedules.find',
  'store.schedules.recent',
  'store.schedules.neighbours',
  'store.schedules.list',
  'store.workers.list',
  'store.numbers.find',
  'store.logs.read',
  'store.logs.sweep',
  'store.rollups.read',
  'store.rollups.sweep',
  'store.events.wanted',
  'store.events.read',
  'transfer.read',
  'transfer.parcels',
  'transfer.facts',
  'patterns.readyOf',
])

/**
 * Those that a power cut may undo: a renewal, a progress, an event, a log line or a sum that it takes back is one that never was, the holder of a lock on this
 * file ends with it too, and the sign of life of a worker is worth nothing after it.
 */
const relaxed: ReadonlySet<RuleCall> = new Set([
  'extend',
  'store.report',
  'store.logs.append',
  'store.logs.sweep',
  'store.rollups.add',
  'store.rollups.sweep',
  'store.events.append',
  'store.events.listen',
  'store.events.leave',
  'store.schedules.markSeen',
  'store.workers.announce',
  'store.workers.leave',
  'coordination.lock',
  'coordination.unlock',
])

export function mannerOf(name: RuleCall): CallManner {
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

/** Every method of an object and of those in it, by its path. */
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

/** The same parts, each method of which is a call by its name. */
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
