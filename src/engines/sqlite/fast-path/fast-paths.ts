import { CountChanges } from '../../sql/lanes/counts.ts'
import { endsPlainly } from '../../sql/lanes/lane-numbers.ts'
import { readToken } from '../../sql/rows/lease-token.ts'
import { endsAlone, stateNumber } from '../../sql/rows/tables.ts'
import { done } from '../file/file-database.ts'
import type { Settled } from '../thread/engine.ts'
import type { ClaimedRows } from './claimed-rows.ts'
import { FastClaim, type PlainRequest } from './fast-claim.ts'
import { type FastParts, Refused } from './fast-parts.ts'
import { FastStore } from './fast-store.ts'
import type { FlatEnvelopes } from './flat-envelopes.ts'
import type { FlatSettlement } from './flat-settlements.ts'

/**
 * Shortcuts for the great majority of jobs, straight from the data that crossed into the database thread to SQL statements: they
 * store, claim and complete jobs without a unique key, group, number or workflow. The rules answer everything else, and the fast
 * paths give the same answers as the rules would: the queue's tests run with and without them.
 */
export class FastPaths {
  readonly #parts: FastParts
  readonly #store: FastStore
  readonly #claim: FastClaim

  constructor(parts: FastParts) {
    this.#parts = parts
    this.#store = new FastStore(parts)
    this.#claim = new FastClaim(parts)
  }

  /** Call inside a transaction. False if the rules have to store them. `Refused` rolls back what was stored so far. */
  store(flat: FlatEnvelopes): boolean {
    const counts = new CountChanges()
    if (!this.#store.store(flat, counts)) return false
    this.#writeCounts(counts)
    return true
  }

  /** Null if the rules have to handle the claim. */
  claim(request: PlainRequest, claim: string): ClaimedRows | null {
    return this.#claim.claim(request, claim)
  }

  /** Call inside a transaction. Null if the rules have to settle them. `Refused` rolls back what was settled so far. */
  succeed(settlements: readonly FlatSettlement[]): Settled | null {
    const claims = this.#byClaim(settlements)
    if (claims === null) return null
    const { database, time } = this.#parts
    const now = time.now()
    const changes = new CountChanges()
    for (const [claim, { ids, lanes }] of claims) {
      if (database.session.run(ending, [now, ids, claim]) < ids.length) throw new Refused()
      changes.moveEach(lanes, stateNumber.running, stateNumber.succeeded)
    }
    this.#writeCounts(changes)
    return allApplied
  }

  #writeCounts(counts: CountChanges): void {
    const { database, rules } = this.#parts
    done(counts.write(database.session, rules.shared.counts))
  }

  /** Null if any of them needs more than to be marked as succeeded. */
  #byClaim(settlements: readonly FlatSettlement[]): ReadonlyMap<string, EndedJobs> | null {
    const { lanes } = this.#parts.rules.shared
    const claims = new Map<string, EndedJobs>()
    for (const settlement of settlements) {
      const token = typeof settlement === 'string' ? readToken(settlement) : undefined
      if (token === undefined || !endsPlainly(lanes.find(token.lane))) return null
      const { id, lane, claim } = token
      const together = claims.get(claim)
      if (together === undefined) claims.set(claim, { ids: [id], lanes: [lane] })
      else {
        together.ids.push(id)
        together.lanes.push(lane)
      }
    }
    return claims
  }
}

/** Jobs of one claim, and the lane of each. */
interface EndedJobs {
  readonly ids: string[]
  readonly lanes: number[]
}

const ending = `UPDATE {jobs} SET state = ${stateNumber.succeeded}, finished_at = ?, result = NULL, seal = NULL, lease_until = NULL,
  cancel = 0, held_key = NULL WHERE id IN (?) AND token = ? AND ${endsAlone}`

const allApplied: Settled = { others: [], released: false }
