import { CountChanges } from '../../sql/lanes/counts.ts'
import { readToken } from '../../sql/rows/lease-token.ts'
import { stateNumber } from '../../sql/rows/tables.ts'
import { done } from '../file/file-database.ts'
import type { Settled } from '../thread/engine.ts'
import type { ClaimedRows } from './claimed-rows.ts'
import { FastClaim, type PlainRequest } from './fast-claim.ts'
import { type FastParts, Refused } from './fast-parts.ts'
import { FastStore } from './fast-store.ts'
import type { FlatEnvelopes } from './flat-envelopes.ts'
import type { FlatSettlement } from './flat-settlements.ts'

/**
 * The ways that nearly all jobs go, straight from what has crossed into the database's thread to statements: jobs with no unique key,
 * no group, no number and no place in a workflow are stored, claimed and ended as done. Whatever they do not answer is answered by
 * the rules, and what they answer is what the rules would say: the tests of the queue are run with them and without them.
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

  /** Inside of a transaction. False where the rules are to store them. `Refused` undoes what was stored so far. */
  store(flat: FlatEnvelopes): boolean {
    return this.#store.store(flat)
  }

  /** Null where the rules are to claim. */
  claim(request: PlainRequest, claim: string): ClaimedRows | null {
    return this.#claim.claim(request, claim)
  }

  /** Inside of a transaction. Null where the rules are to end them. `Refused` undoes what was ended so far. */
  succeed(settlements: readonly FlatSettlement[]): Settled | null {
    const claims = this.#byClaim(settlements)
    if (claims === null) return null
    const { database, time, rules } = this.#parts
    const now = time.now()
    const changes = new CountChanges()
    for (const [claim, tokens] of claims) {
      const ids = tokens.map(({ id }) => id)
      if (database.session.run(ending, [now, ids, claim]) < ids.length) throw new Refused()
      for (const { lane } of tokens) changes.move(lane, stateNumber.running, stateNumber.succeeded)
    }
    done(changes.write(database.session, rules.shared.counts))
    return allApplied
  }

  /** Null where one of them is more than plainly done. */
  #byClaim(settlements: readonly FlatSettlement[]): ReadonlyMap<string, PlainToken[]> | null {
    const { lanes } = this.#parts.rules.shared
    const claims = new Map<string, PlainToken[]>()
    for (const settlement of settlements) {
      const token = typeof settlement === 'string' ? readToken(settlement) : undefined
      if (token === undefined || lanes.find(token.lane)?.recurring !== 0) return null
      const together = claims.get(token.claim)
      if (together === undefined) claims.set(token.claim, [token])
      else together.push(token)
    }
    return claims
  }
}

interface PlainToken {
  readonly id: string
  readonly lane: number
}

const ending = `UPDATE {jobs} SET state = ${stateNumber.succeeded}, finished_at = ?, result = NULL, seal = NULL, lease_until = NULL,
  cancel = 0, held_key = NULL WHERE id IN (?) AND token = ? AND state + 0 = ${stateNumber.running} AND linked = 0`

const allApplied: Settled = { others: [], released: false }
