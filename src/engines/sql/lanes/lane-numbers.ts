import { createHash } from 'node:crypto'
import type { Envelope } from '../../../envelope/envelope.ts'

/** What identifies a lane. */
export interface LaneKey {
  readonly queue: string
  readonly job: string
  readonly priority: number
  readonly single: number
  readonly recurring: number
  readonly grouped: number
}

/**
 * All jobs of one queue, key and priority. Jobs that run alone, jobs in groups, and other occurrences of schedules have separate
 * lanes. `recurring`: it may contain occurrences.
 */
export interface Lane extends LaneKey {
  readonly lane: number
}

/** Whether the jobs of a lane may be ended without looking at them, except for those that are not as `endsAlone` says. */
export function endsPlainly(lane: Lane | undefined): boolean {
  return lane !== undefined && (lane.recurring === 0 || lane.grouped === 1)
}

/** What an envelope says about its lane. */
export type LaneFields = Pick<Envelope, 'queue' | 'job' | 'priority' | 'singleInstance' | 'group'>

/**
 * Occurrences of schedules have lanes of their own, so that the end of any other job needs no look at its row. Those in groups
 * take turns with all jobs of the key, and so share a lane with them.
 */
export function laneKey({ queue, job, priority, singleInstance, group }: LaneFields, isRecurring: boolean): LaneKey {
  const isGrouped = group !== null
  return { queue, job, priority, single: +singleInstance, recurring: +(isRecurring || isGrouped), grouped: +isGrouped }
}

export const keyColumns = ['queue', 'job', 'priority', 'single', 'recurring', 'grouped'] as const
export const laneColumns = ['lane', ...keyColumns].join(', ')

/** Lanes with this number or a higher one are crowded. */
export const crowdedFrom = 2 ** 30
/** Earlier versions numbered lanes consecutively; those numbers are lower than this. */
const calculatedFrom = 2 ** 29

/** Maximum number of lanes that are claimed from one by one; lanes created beyond that are crowded. */
export const mostSingleLanes = 64

/** False for what only someone else can have written into the column, such as a text in a SQLite file, or 0 (`allLanes`). */
export function isLaneNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0 && (value as number) < 2 * crowdedFrom
}

function isCrowded({ lane }: { readonly lane: number }): boolean {
  return lane >= crowdedFrom
}

/** The `crowd` value of a lane's jobs: jobs of the highest priority come first. */
export function crowdOf(lane: { readonly lane: number; readonly priority: number }): number | null {
  return isCrowded(lane) ? -lane.priority : null
}

/**
 * The number a lane gets unless it is taken. It is computed, so that a lane that was deleted and created again has the same
 * number, and a job stored in between is where it is expected.
 */
export function numberOf(key: LaneKey, crowded: boolean): number {
  const hash = hashOf(key)
  return crowded ? crowdedFrom + (hash >>> 2) : calculatedFrom + (hash >>> 3)
}

/** A new lane is looked for under both of its numbers, and then created. */
function hashOf(key: LaneKey): number {
  let hash = hashes.get(key)
  if (hash === undefined) {
    hash = createHash('sha256').update(textOf(key)).digest().readUInt32BE()
    hashes.set(key, hash)
  }
  return hash
}

const hashes = new WeakMap<LaneKey, number>()

/** The number to try next if another lane has this one. */
export function numberAfter(number: number): number {
  if (number >= crowdedFrom) return number + 1 < 2 * crowdedFrom ? number + 1 : crowdedFrom
  return number + 1 < crowdedFrom ? number + 1 : calculatedFrom
}

/** Whether a name can be stored at all. Other strings are not queried, because not every server accepts them. */
export function mayBeStored(name: string): boolean {
  return !/[\0\p{Surrogate}]/u.test(name)
}

export function textOf({ queue, job, priority, single, recurring, grouped }: LaneKey): string {
  return `${queue}\n${job}\n${priority}.${single}${recurring}${grouped}`
}

/** A placeholder for a missing lane that its jobs do not describe either. */
export function nameless(lane: number): Lane {
  return { lane, queue: '', job: '', priority: 0, single: 0, recurring: 0, grouped: 0 }
}
