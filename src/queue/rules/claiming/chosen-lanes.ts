import { Heap, type Slotted } from '../../../core/heap.ts'
import type { StoredJob } from '../jobs/job.ts'
import { type Lane, type Lanes, laneOrder } from '../jobs/lanes.ts'

interface Choice extends Slotted {
  readonly lane: Lane
  readonly priority: number
  readonly head: StoredJob
}

/** A few lanes, best first by an order of their own. All other lanes, and the order of these among them, stay as they are. */
export class ChosenLanes {
  readonly #lanes: Lanes
  readonly #choices: Heap<Choice>
  readonly #byLane = new Map<Lane, Choice>()

  constructor(lanes: Lanes, chosen: Iterable<Lane>, ageingMs: number) {
    this.#lanes = lanes
    this.#choices = new Heap<Choice>(laneOrder(ageingMs))
    for (const lane of chosen) this.#enter(lane)
    lanes.follow((lane) => this.#follow(lane))
  }

  best(): Lane | undefined {
    return this.#choices.peek()?.lane
  }

  passOver(lane: Lane): void {
    const choice = this.#byLane.get(lane)
    if (choice === undefined) return
    this.#choices.remove(choice)
    this.#byLane.delete(lane)
  }

  close(): void {
    this.#lanes.follow(null)
  }

  /** The first job of a lane has changed. */
  #follow(lane: Lane): void {
    if (!this.#byLane.has(lane)) return
    this.passOver(lane)
    this.#enter(lane)
  }

  #enter(lane: Lane): void {
    const { head, priority } = lane
    if (head === undefined) return
    const choice: Choice = { lane, priority, head, slot: -1 }
    this.#byLane.set(lane, choice)
    this.#choices.add(choice)
  }
}
