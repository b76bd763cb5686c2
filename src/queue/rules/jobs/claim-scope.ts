import { keyTest } from '../../claiming/key-pattern.ts'
import type { LeaseRequest } from '../../contract/contract.ts'
import { Heap, type Slotted } from '../../limits/heap.ts'
import type { StoredJob } from './job.ts'
import type { Lane, Lanes, LanesOfJob } from './lanes.ts'

/**
 * Maximum number of keys to look up one by one, and maximum number of unwanted keys to skip before all keys are scanned instead.
 */
const fewJobs = 64
const mostPassedOver = 1_000

interface Candidate extends Slotted {
  readonly lanes: LanesOfJob
  readonly head: StoredJob
}

/** The lanes that a claim asks for, best first, however many others there are. */
export class ClaimScope {
  readonly #lanes: Lanes
  readonly #isWanted: (job: string) => boolean
  readonly #leftOut: LanesOfJob[] = []
  #candidates: Heap<Candidate> | undefined

  constructor(lanes: Lanes, { jobs, others }: LeaseRequest, isNamed: (job: string) => boolean) {
    this.#lanes = lanes
    const isOther = others == null ? () => false : keyTest(others)
    this.#isWanted = (job) => isNamed(job) || isOther(job)
    if (others == null && jobs.length <= fewJobs) this.#candidates = this.#among(jobs.map(({ job }) => job))
  }

  best(): Lane | undefined {
    while (this.#candidates === undefined) {
      const first = this.#lanes.first()
      if (first === undefined || this.#isWanted(first.job)) return first?.best.peek()
      this.#lanes.leaveOut(first)
      this.#leftOut.push(first)
      if (this.#leftOut.length >= mostPassedOver) {
        this.close()
        this.#candidates = this.#among([...this.#lanes.jobs].filter(this.#isWanted))
      }
    }
    return this.#bestOf(this.#candidates)
  }

  close(): void {
    for (const lanes of this.#leftOut.splice(0)) this.#lanes.letIn(lanes)
  }

  #among(jobs: readonly string[]): Heap<Candidate> {
    const found = new Heap<Candidate>((a, b) => this.#lanes.isBefore(a.lanes, b.lanes))
    for (const job of new Set(jobs)) this.#enter(found, this.#lanes.ofJob(job))
    return found
  }

  /** Moves candidates whose first job has changed to their new place. */
  #bestOf(candidates: Heap<Candidate>): Lane | undefined {
    for (let first = candidates.peek(); first !== undefined; first = candidates.peek()) {
      if (first.lanes.head === first.head) return first.lanes.best.peek()
      candidates.remove(first)
      this.#enter(candidates, first.lanes)
    }
    return undefined
  }

  #enter(candidates: Heap<Candidate>, lanes: LanesOfJob | undefined): void {
    if (lanes?.head !== undefined) candidates.add({ lanes, head: lanes.head, slot: -1 })
  }
}
