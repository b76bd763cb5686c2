import type { LeaseRequest } from '../contract.ts'
import type { Counts } from './counts.ts'
import type { Lanes } from './lanes.ts'
import type { Outlook } from './outlook.ts'
import { inOrder, isLimited, type RankedLane, wantedLanes } from './ranked-lanes.ts'
import type { SqlDatabase } from './session.ts'
import type { ClaimedRow, Shortcuts } from './shortcuts.ts'

export interface FirstSightParts {
  readonly database: SqlDatabase
  readonly shortcuts: Shortcuts
  readonly lanes: Lanes
  readonly counts: Counts
}

export interface Sight {
  readonly outlook: Outlook
  readonly rows: readonly ClaimedRow[]
  /** Lanes that have no more for this claim. */
  readonly emptied: ReadonlySet<number>
}

/** Each lane costs a look, also where there is nothing. */
const mostLanes = 8

/**
 * The claim of a worker that idles. What wakes it stands most often in a lane that it knows, so it claims from those without
 * asking first which lanes have jobs, and is told so in the same round trip.
 */
export class FirstSight {
  readonly #parts: FirstSightParts
  #isIdle = false

  constructor(parts: FirstSightParts) {
    this.#parts = parts
  }

  /** How many jobs the last claim got: who finds many asks for many, and one round trip more is nothing to that. */
  found(jobs: number): void {
    this.#isIdle = jobs === 0
  }

  /** Null where it is better to ask first. */
  async claim(request: LeaseRequest, claim: string, now: number): Promise<Sight | null> {
    const { database, shortcuts, counts } = this.#parts
    const lanes = this.#isIdle && request.limit > 0 ? this.#likely(request) : []
    if (shortcuts.claimAtSight === null || lanes.length === 0) return null
    const { limit, owner, leaseMs } = request
    const { outlook, rows, isContended } = await shortcuts.claimAtSight(database, {
      lanes: lanes.map(({ lane, level, headStartMs, of }) => ({ lane, level, headStartMs, queue: of.queue })),
      limit,
      claim,
      owner,
      now,
      leaseUntil: now + leaseMs,
    })
    if (rows.length > 0) counts.noteEntries(2)
    return { outlook, rows: inOrder(rows, lanes), emptied: new Set(isContended ? [] : lanes.map(({ lane }) => lane)) }
  }

  /** None where there are many, or where a limit may stand before one of them. */
  #likely(request: LeaseRequest): readonly RankedLane[] {
    const lanes = wantedLanes(request, this.#parts.lanes.known)
    return lanes.length > mostLanes || isLimited(request, lanes) ? [] : lanes
  }
}
