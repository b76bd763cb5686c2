import type { LeaseRequest } from '../contract.ts'
import { handlingOf } from '../handling.ts'
import type { Counts } from './counts.ts'
import type { Lanes } from './lanes.ts'
import type { QueueTime } from './queue-time.ts'
import { inOrder, isLimited, type RankedLane, wantedLanes } from './ranked-lanes.ts'
import type { SqlDatabase } from './session.ts'
import type { ClaimedRow, Shortcuts } from './shortcuts.ts'

export interface FirstSightParts {
  readonly database: SqlDatabase
  readonly shortcuts: Shortcuts
  readonly lanes: Lanes
  readonly counts: Counts
}

/** Each lane costs a look, also where there is nothing. */
const mostLanes = 8

/**
 * The claim of a worker that idled and was woken. What wakes it stands most often in a lane that it knows, so it claims from those
 * without asking first what there is.
 */
export class FirstSight {
  readonly #parts: FirstSightParts
  #isIdle = false
  #isWoken = false
  /** Where several workers are woken for one job, most of them are woken in vain, and ask once rather than twice. */
  #isPromising = true

  constructor(parts: FirstSightParts) {
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
  async claim(request: LeaseRequest, claim: string, time: QueueTime): Promise<readonly ClaimedRow[]> {
    const { database, shortcuts, counts } = this.#parts
    const isLikely = this.#isIdle && this.#isWoken && this.#isPromising && shortcuts.heedsPauses && request.limit > 0
    this.#isWoken = false
    const lanes = isLikely ? this.#known(request) : []
    if (lanes.length === 0) return []
    const { limit, owner, leaseMs } = request
    const lease = { claim, owner, time, leaseMs, begun: handlingOf(request) }
    const { rows } = await shortcuts.claim(database, { lanes, limit, ...lease })
    this.#isPromising = rows.length > 0
    if (rows.length > 0) counts.noteEntries(2)
    return inOrder(rows, lanes)
  }

  /** None where there are many, or where a limit may stand before one of them. */
  #known(request: LeaseRequest): readonly RankedLane[] {
    const lanes = wantedLanes(request, this.#parts.lanes.known)
    return lanes.length > mostLanes || isLimited(request, lanes) ? [] : lanes
  }
}
