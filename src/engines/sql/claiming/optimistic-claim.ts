import { type Steps, wait } from '../../../core/answer.ts'
import { handlingOf } from '../../../queue/claiming/handling.ts'
import type { LeaseRequest } from '../../../queue/contract/contract.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { type Counts, lanesIn } from '../lanes/counts.ts'
import type { Lane, Lanes } from '../lanes/lanes.ts'
import { inOrder, isLimited, type RankedLane, wantedLanes } from '../lanes/ranked-lanes.ts'
import type { SqlDatabase } from '../session.ts'
import type { ClaimedRow, Shortcuts } from '../shortcuts.ts'

export interface OptimisticClaimParts {
  readonly database: SqlDatabase
  readonly shortcuts: Shortcuts
  readonly lanes: Lanes
  readonly counts: Counts
}

/** Each lane costs a look, also where there is nothing. */
const mostLanes = 8
const mostNames = 1_000

/**
 * The claim of a worker that idled and was woken. What wakes it stands most often in a lane that it knows, so it claims from those
 * without asking first what there is.
 */
export class OptimisticClaim {
  readonly #parts: OptimisticClaimParts
  #isIdle = false
  #isWoken = false
  /** Where several workers are woken for one job, most of them are woken in vain, and ask once rather than twice. */
  #isPromising = true

  constructor(parts: OptimisticClaimParts) {
    this.#parts = parts
  }

  /** Something may have become ready. */
  woken(): void {
    this.#isWoken = true
  }

  /** How many jobs the last claim got: who finds many asks for many, and one round trip more is nothing to that. */
  found(jobs: number): void {
    this.#isIdle = jobs === 0
    if (jobs > 0) this.#isPromising = true
  }

  /** None where it is better to ask first. */
  *claim(request: LeaseRequest, claim: string, time: QueueTime): Steps<readonly ClaimedRow[]> {
    const { database, shortcuts, counts } = this.#parts
    const isLikely = this.#isIdle && this.#isWoken && this.#isPromising && shortcuts.heedsPauses && request.limit > 0
    this.#isWoken = false
    const lanes = isLikely ? this.#known(request) : []
    if (lanes.length === 0) return []
    const { limit, owner, leaseMs } = request
    const lease = { claim, owner, time, leaseMs, begun: handlingOf(request) }
    const { rows } = yield* wait(shortcuts.claim(database, { lanes, limit, ...lease }))
    this.#isPromising = rows.length > 0
    if (rows.length > 0) counts.noteEntries(2 * lanesIn(rows))
    return inOrder(rows, lanes)
  }

  /** None where there are many, or where a limit may stand before one of them. */
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
