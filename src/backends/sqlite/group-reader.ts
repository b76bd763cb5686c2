import { Heap, type Slotted } from '../heap.ts'
import type { WaitingGroup } from './group-lanes.ts'
import type { GroupSlots } from './group-slots.ts'
import type { Lane } from './lane.ts'
import type { LaneReader, Pick, Reader } from './lane-reader.ts'

export interface GroupSource {
  /** Groups in the order in which they are to be served: so many, after so many. */
  readonly read: (count: number, after: number) => readonly WaitingGroup[]
  readonly jobsOf: (lane: Lane) => LaneReader
  readonly mayStart: (lane: Lane) => boolean
  readonly slots: GroupSlots
  /** So many jobs of one group may run at once. */
  readonly concurrency: number
}

interface Candidate extends Slotted {
  readonly lane: Lane
  readonly jobs: LaneReader
  /** Jobs of the group that ran before this claim. */
  readonly running: number
  busy: number
  turn: number
}

/**
 * The ready jobs of all groups of a lane: always the group with the fewest running jobs, and among those the one that was
 * served longest ago. Groups are read a part at a time: a claim meets few of them.
 */
export class GroupReader implements Reader {
  slot = -1
  readonly #family: Lane
  readonly #source: GroupSource
  readonly #candidates = new Heap<Candidate>(comesFirst)
  #partSize: number
  #seen = 0
  #isAllRead = false
  #lastRead: WaitingGroup | undefined
  #best: Candidate | undefined

  constructor(family: Lane, source: GroupSource, partSize: number) {
    this.#family = family
    this.#source = source
    this.#partSize = partSize
    this.#best = this.#findBest()
  }

  get head(): Pick | undefined {
    return this.#best?.jobs.head
  }

  /** Another lane of the same group may have been served since. */
  refresh(): Pick | undefined {
    this.#best = this.#findBest()
    return this.head
  }

  advance(): void {
    const best = this.#best as Candidate
    this.#candidates.remove(best)
    best.jobs.advance()
    best.turn = this.#source.slots.take(best.lane)
    best.busy++
    this.#candidates.add(best)
    this.#best = this.#findBest()
  }

  #findBest(): Candidate | undefined {
    while (true) {
      const first = this.#first()
      if (first === undefined || first.busy >= this.#source.concurrency) return undefined
      if (this.#isUpToDate(first)) {
        if (this.#source.mayStart(first.lane) && first.jobs.head !== undefined) return first
        this.#candidates.remove(first)
      }
    }
  }

  /** The first of those that were read, after as many were read as may come before it. */
  #first(): Candidate | undefined {
    while (true) {
      const first = this.#candidates.peek()
      const isKnown = first !== undefined && this.#lastRead !== undefined && !isServedFirst(this.#lastRead, first)
      if (isKnown || this.#isAllRead) return first
      this.#readOn()
    }
  }

  #isUpToDate(candidate: Candidate): boolean {
    const busy = candidate.running + this.#source.slots.started(candidate.lane)
    if (busy === candidate.busy) return true
    this.#candidates.remove(candidate)
    candidate.busy = busy
    this.#candidates.add(candidate)
    return false
  }

  #readOn(): void {
    const groups = this.#source.read(this.#partSize, this.#seen)
    for (const { lane: number, group, busy, turn } of groups) {
      const lane = { ...this.#family, lane: number, family: this.#family.lane, grp: group }
      this.#candidates.add({ slot: -1, lane, jobs: this.#source.jobsOf(lane), running: busy, busy, turn })
    }
    this.#seen += groups.length
    this.#isAllRead = groups.length < this.#partSize
    this.#lastRead = groups.at(-1) ?? this.#lastRead
    this.#partSize *= 2
  }
}

interface Turn {
  readonly busy: number
  readonly turn: number
}

function isServedFirst(a: Turn, b: Turn): boolean {
  return a.busy === b.busy ? a.turn < b.turn : a.busy < b.busy
}

/** Those that came together are served in the order in which they were first seen. */
function comesFirst(a: Candidate, b: Candidate): boolean {
  return a.busy === b.busy && a.turn === b.turn ? a.lane.lane < b.lane.lane : isServedFirst(a, b)
}
