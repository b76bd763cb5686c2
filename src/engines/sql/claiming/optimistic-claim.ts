import { type Steps, wait } from '../../../core/answer.ts'
import type { LeaseRequest } from '../../../queue/contract/contract.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { type Counts, lanesIn } from '../lanes/counts.ts'
import type { Lane, Lanes } from '../lanes/lanes.ts'
import { inOrder, isLimited, type RankedLane, wantedLanes } from '../lanes/ranked-lanes.ts'
import { handlingOf } from '../rows/handling.ts'
import type { SqlDatabase } from '../session.ts'
import type { ClaimedRow, Shortcuts } from '../shortcuts.ts'

export interface OptimisticClaimParts {
  readonly database: SqlDatabase
  readonly shortcuts: Shortcuts
  readonly lanes: Lanes
  readonly counts: Counts
}

/** Every lane costs a lookup, even an empty one. */
const mostLanes = 8
const mostNames = 1_000

/**
 * The claim of an idle worker that was woken. The job that woke it is usually in a lane it knows, so it claims from those without
 * first asking what is ready.
 */
export class OptimisticClaim {
  readonly #parts: OptimisticClaimParts
  #isIdle = false
  #isWoken = false
  /** If several workers are woken for one job, most of them find nothing, and should ask once rather than twice. */
  #isPromising = true
  /** When something has to be done before jobs are claimed, such as returning those of a dead worker. */
  #overdueAt: number | null = null

  constructor(parts: OptimisticClaimParts) {
    this.#parts = parts
  }

  /** Call this when something may have become ready. */
  woken(): void {
    this.#isWoken = true
  }

  /** Call this when it is known what has to be done next, and when. */
  expect(overdueAt: number | null): void {
    this.#overdueAt = overdueAt
  }

  /** How many jobs the last claim got. A worker that finds many also asks for many, so one more round trip hardly matters. */
  found(jobs: number): void {
    this.#isIdle = jobs === 0
    if (jobs > 0) this.#isPromising = true
  }

  /** Returns nothing if it is better to ask first. */
  *claim(request: LeaseRequest, claim: string, time: QueueTime): Steps<readonly ClaimedRow[]> {
    const { database, shortcuts, counts } = this.#parts
    const isLikely = this.#isIdle && this.#isWoken && this.#isPromising && shortcuts.heedsPauses && request.limit > 0
    this.#isWoken = false
    const isOverdue = this.#overdueAt !== null && this.#overdueAt <= time.now()
    const lanes = isLikely && !isOverdue ? this.#known(request) : []
    if (lanes.length === 0) return []
    const { limit, owner, leaseMs } = request
    const lease = { claim, owner, time, leaseMs, begun: handlingOf(request) }
    const { rows } = yield* wait(shortcuts.claim(database, { lanes, limit, ...lease }))
    this.#isPromising = rows.length > 0
    if (rows.length > 0) counts.noteEntries(2 * lanesIn(rows))
    return inOrder(rows, lanes)
  }

  /** Empty if there are too many, or if a limit may apply to one of them. */
  #known(request: LeaseRequest): readonly RankedLane[] {
    if (request.others != null || request.jobs.length > mostNames) return []
    const known: Lane[] = []
    for (const { job } of request.jobs) {
      for (const lane of wantedLanes(request, [...this.#parts.lanes.knownOf(job)])) known.push(lane.of)
      if (known.length > mostLanes) return []
    }
    const lanes = wantedLanes(request, known)
    return isLimited(request, lanes) ? [] : lanes
  }
}
