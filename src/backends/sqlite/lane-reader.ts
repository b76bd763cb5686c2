import type { Slotted } from '../heap.ts'
import type { Lane } from './lanes.ts'

/** A ready job that a claim may take. */
export interface Pick {
  readonly seq: number
  readonly runAt: number
  readonly lane: Lane
}

/** Reads jobs of a lane in their order: so many, after so many. */
export type ReadLane = (lane: Lane, count: number, after: number) => readonly Pick[]

/** The ready jobs of one lane, read a part at a time: how many of them a claim takes is not known before. */
export class LaneReader implements Slotted {
  slot = -1
  readonly #lane: Lane
  readonly #read: ReadLane
  readonly #most: number
  #part: readonly Pick[] = []
  #partSize: number
  #next = 0
  #seen = 0

  constructor(lane: Lane, read: ReadLane, partSize: number, most: number) {
    this.#lane = lane
    this.#read = read
    this.#partSize = partSize
    this.#most = most
  }

  /** The best job that is left, if there is one. */
  get head(): Pick | undefined {
    if (this.#next === this.#part.length && this.#seen < this.#most) this.#readOn()
    return this.#part[this.#next]
  }

  advance(): void {
    this.#next++
  }

  #readOn(): void {
    const count = Math.min(this.#partSize, this.#most - this.#seen)
    this.#part = this.#read(this.#lane, count, this.#seen)
    this.#next = 0
    this.#seen = this.#part.length < count ? this.#most : this.#seen + count
    this.#partSize *= 2
  }
}

export function runsFirst(a: LaneReader, b: LaneReader): boolean {
  const [one, other] = [a.head as Pick, b.head as Pick]
  return one.runAt === other.runAt ? one.seq < other.seq : one.runAt < other.runAt
}
