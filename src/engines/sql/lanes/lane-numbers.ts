import { createHash } from 'node:crypto'

/** What makes a lane. */
export interface LaneKey {
  readonly queue: string
  readonly job: string
  readonly priority: number
  readonly single: number
  readonly recurring: number
  readonly grouped: number
}

/** All jobs of one queue, key and priority; apart from them those that run alone, occurrences of schedules, and those of groups. */
export interface Lane extends LaneKey {
  readonly lane: number
}

export const keyColumns = ['queue', 'job', 'priority', 'single', 'recurring', 'grouped'] as const
export const laneColumns = ['lane', ...keyColumns].join(', ')

/** Lanes with these numbers and larger ones are crowded. */
export const crowdedFrom = 2 ** 30
/** Lanes with smaller numbers were counted up, by earlier versions. */
const calculatedFrom = 2 ** 29

/** So many lanes are claimed from one by one; those that are made while there are as many are crowded. */
export const mostSingleLanes = 64

export function isCrowded({ lane }: { readonly lane: number }): boolean {
  return lane >= crowdedFrom
}

/** What the jobs of a lane say in `crowd`: those of the highest priority stand first. */
export function crowdOf(lane: { readonly lane: number; readonly priority: number }): number | null {
  return isCrowded(lane) ? -lane.priority : null
}

/**
 * The number that a lane gets where nothing else has it. It is calculated, so that a lane which was deleted and is made again has the
 * same one, and a job that was stored in between stands where it is looked for.
 */
export function numberOf(key: LaneKey, crowded: boolean): number {
  const hash = createHash('sha256').update(textOf(key)).digest().readUInt32BE()
  return crowded ? crowdedFrom + (hash >>> 2) : calculatedFrom + (hash >>> 3)
}

/** The number to be tried when another lane has this one. */
export function numberAfter(number: number): number {
  if (number >= crowdedFrom) return number + 1 < 2 * crowdedFrom ? number + 1 : crowdedFrom
  return number + 1 < crowdedFrom ? number + 1 : calculatedFrom
}

/** Whether a name may be one that is stored: other texts are not asked for, because not every server can be. */
export function mayBeStored(name: string): boolean {
  return !/[\0\p{Surrogate}]/u.test(name)
}

export function textOf({ queue, job, priority, single, recurring, grouped }: LaneKey): string {
  return `${queue}\n${job}\n${priority}.${single}${recurring}${grouped}`
}

/** Stands for a lane that is not there, and of which its jobs do not tell either. */
export function nameless(lane: number): Lane {
  return { lane, queue: '', job: '', priority: 0, single: 0, recurring: 0, grouped: 0 }
}
