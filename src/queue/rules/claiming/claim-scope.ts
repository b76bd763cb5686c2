import { Heap, type Slotted } from '../../../core/heap.ts'
import type { LeaseRequest } from '../../contract/contract.ts'
import type { StoredJob } from '../jobs/job.ts'
import type { Lane, Lanes, LanesOfJob } from '../jobs/lanes.ts'
import type { ClaimState } from '../limits/limits.ts'
import { ChosenLanes } from './chosen-lanes.ts'
import { meantTest } from './wanted-jobs.ts'

/** Maximum number of keys to look up one by one, and of lanes to sort for one claim. */
const fewJobs = 64
const fewLanes = 256
/** Maximum number of keys and lanes to skip before only wanted ones are looked up instead. */
const mostPassedOver = 1_000

interface Candidate extends Slotted {
  readonly lanes: LanesOfJob
  readonly head: StoredJob
}

/** The lanes that a claim asks for, best first, however many others there are. */
export class ClaimScope {
  readonly #lanes: Lanes
  readonly #request: LeaseRequest
  readonly #claim: ClaimState
  readonly #isWanted: (job: string) => boolean
  readonly #leftOut: LanesOfJob[] = []
  readonly #aside: Lane[] = []
  #candidates: Heap<Candidate> | undefined
  #chosen: ChosenLanes | undefined

  constructor(lanes: Lanes, request: LeaseRequest, claim: ClaimState) {
    this.#lanes = lanes
    this.#request = request
    this.#claim = claim
    this.#isWanted = meantTest(claim.jobs, request.others)
    this.#choose(fewLanes)
    if (this.#chosen !== undefined) return
    lanes.orderBy(this.#ageingMs)
    const names = this.#fewNames()
    if (names !== null) this.#candidates = this.#among(names)
  }

  best(): Lane | undefined {
    while (this.#candidates === undefined && this.#chosen === undefined) {
      const first = this.#lanes.first()
      if (first === undefined || this.#isWanted(first.job)) return first?.best.peek()
      this.#lanes.leaveOut(first)
      this.#leftOut.push(first)
      if (this.#leftOut.length < mostPassedOver || this.#lookUp()) continue
      this.#letIn()
      this.#candidates = this.#among([...this.#lanes.jobs].filter(this.#isWanted))
    }
    return this.#chosen === undefined ? this.#bestOf(this.#candidates as Heap<Candidate>) : this.#chosen.best()
  }

  /** Hides a lane for the rest of the claim. */
  passOver(lane: Lane): void {
    if (this.#chosen !== undefined) {
      this.#chosen.passOver(lane)
      return
    }
    this.#lanes.setAside(lane)
    this.#aside.push(lane)
    if (this.#aside.length === mostPassedOver) this.#lookUp()
  }

  close(): void {
    this.#chosen?.close()
    this.#letIn()
  }

  get #ageingMs(): number {
    return this.#request.ageingMs ?? 0
  }

  #fewNames(): readonly string[] | null {
    const { jobs, others } = this.#request
    return others == null && jobs.length <= fewJobs ? [...new Set(jobs.map(({ job }) => job))] : null
  }

  /** From here on, looks up the lanes of the wanted queues. False if the claim names none. */
  #lookUp(): boolean {
    if (this.#claim.queues === null) return false
    const passed = [...this.#aside]
    this.#letIn()
    this.#choose(Number.POSITIVE_INFINITY)
    for (const lane of passed) this.#chosen?.passOver(lane)
    return true
  }

  /** Chooses among the lanes of the named keys, or of the named queues, whichever are fewer, if there are no more than this. */
  #choose(most: number): void {
    const [lanes, { queues, isOpen }, names] = [this.#lanes, this.#claim, this.#fewNames()]
    const ofNames = total(names, (job) => Math.min(lanes.ofJob(job)?.byKey.size ?? 0, queues?.size ?? Number.POSITIVE_INFINITY))
    const ofQueues = total(queues, (queue) => lanes.byQueue.jobsIn(queue))
    if (Math.min(ofNames, ofQueues) > most || (names === null && queues === null)) return
    const byName = names !== null && ofNames <= ofQueues
    const found = byName
      ? names.flatMap((job) => [...lanes.within(job, queues)])
      : [...(queues ?? [])].flatMap((queue) => lanes.byQueue.of(queue))
    const wanted = found.filter((lane) => isOpen(lane) && this.#isWanted(lane.job))
    this.#chosen = new ChosenLanes(lanes, wanted, this.#ageingMs)
  }

  #letIn(): void {
    for (const lanes of this.#leftOut.splice(0)) this.#lanes.letIn(lanes)
    for (const lane of this.#aside.splice(0)) this.#lanes.putBack(lane)
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

/** Infinite if nothing is named. */
function total(names: Iterable<string> | null, size: (name: string) => number): number {
  let sum = names === null ? Number.POSITIVE_INFINITY : 0
  for (const name of names ?? []) sum += size(name)
  return sum
}
