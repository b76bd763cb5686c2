import type { Slotted } from '../heap.ts'
import type { Lane } from './lane.ts'

/** A ready job that a claim may take. */
export interface Pick {
  readonly seq: number
  /** Lower is sooner. */
  readonly rank: number
  readonly lane: Lane
}

/** Ready jobs in the order in which they are to be claimed. */
export interface Reader extends Slotted {
  /** The best job that is left, if there is one. */
  readonly head: Pick | undefined
  /** The same after others may have been taken elsewhere. */
  refresh(): Pick | undefined
  /** The best job was taken. */
  advance(): void
}

/** Reads jobs of a lane in their order: so many, after so many. */
export type ReadLane = (count: number, after: number) => readonly Pick[]

/** The ready jobs of one lane, read a part at a time: how many of them a claim takes is not known before. */
export class LaneReader implements Reader {
  slot = -1
  readonly #read: ReadLane
  readonly #most: number
  #part: readonly Pick[] = []
  #partSize: number
  #next = 0
  #seen = 0

  constructor(read: ReadLane, partSize: number, most: number) {
    this.#read = read
    this.#partSize = partSize
    this.#most = most
  }

  get head(): Pick | undefined {
    if (this.#next === this.#part.length && this.#seen < this.#most) this.#readOn()
    return this.#part[this.#next]
  }

  refresh(): Pick | undefined {
    return this.head
  }

  advance(): void {
    this.#next++
  }

  #readOn(): void {
    const count = Math.min(this.#partSize, this.#most - this.#seen)
    this.#part = this.#read(count, this.#seen)
    this.#next = 0
    this.#seen = this.#part.length < count ? this.#most : this.#seen + count
    this.#partSize *= 2
  }
}

export function runsFirst(a: Reader, b: Reader): boolean {
  const [one, other] = [a.head as Pick, b.head as Pick]
  return one.rank === other.rank ? one.seq < other.seq : one.rank < other.rank
}
