/** What a lane is found by. */
interface Keyed {
  readonly queue: string
  readonly job: string
}

/** The lanes that have ready jobs, by queue and key: a claim of named queues looks at no others. */
export class LanesByQueue<Lane extends Keyed> {
  readonly #byQueue = new Map<string, Map<string, Lane[]>>()

  add(lane: Lane): void {
    const ofQueue = this.#byQueue.get(lane.queue) ?? new Map<string, Lane[]>()
    this.#byQueue.set(lane.queue, ofQueue)
    const lanes = ofQueue.get(lane.job)
    if (lanes === undefined) ofQueue.set(lane.job, [lane])
    else lanes.push(lane)
  }

  remove(lane: Lane): void {
    const ofQueue = this.#byQueue.get(lane.queue)
    const lanes = ofQueue?.get(lane.job) ?? []
    const index = lanes.indexOf(lane)
    if (index >= 0) lanes.splice(index, 1)
    if (lanes.length === 0) ofQueue?.delete(lane.job)
    if (ofQueue?.size === 0) this.#byQueue.delete(lane.queue)
  }

  at(queue: string, job: string): readonly Lane[] {
    return this.#byQueue.get(queue)?.get(job) ?? []
  }

  of(queue: string): readonly Lane[] {
    return [...(this.#byQueue.get(queue)?.values() ?? [])].flat()
  }

  /** How many keys have ready jobs in a queue. */
  jobsIn(queue: string): number {
    return this.#byQueue.get(queue)?.size ?? 0
  }
}
