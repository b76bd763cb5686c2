import type { Settlement } from '../contract.ts'
import type { Token } from './token.ts'

/** Of a job that succeeded, is kept, and has nothing more to be written of it, only the token crosses into the database's thread. */
export type FlatSettlement = string | Settlement

export function flattenSettlements(settlements: readonly Settlement[]): readonly FlatSettlement[] {
  return settlements.map((settlement) => {
    const isFlat = isPlainlyDone(settlement) && settlement.alone === undefined && settlement.unlinked === true
    return isFlat ? settlement.token : settlement
  })
}

type Done = Extract<Settlement, { readonly kind: 'done' }>

/** By far the most, and worth a statement for all. */
export function isPlainlyDone(settlement: Settlement): settlement is Done {
  if (settlement.kind !== 'done' || settlement.once !== undefined) return false
  return settlement.keep && settlement.result === null && settlement.seal == null
}

export function settlementOf(flat: FlatSettlement): Settlement {
  return typeof flat === 'string' ? { token: flat, kind: 'done', result: null, keep: true, unlinked: true } : flat
}

/** Settlements of one claim, together. */
export interface DoneClaim {
  readonly claim: string
  readonly tokens: Token[]
  readonly indexes: number[]
}

export class PlainlyDone {
  readonly #claims = new Map<string, DoneClaim>()

  get claims(): Iterable<DoneClaim> {
    return this.#claims.values()
  }

  add(token: Token, index: number): void {
    let together = this.#claims.get(token.claim)
    if (together === undefined) {
      together = { claim: token.claim, tokens: [], indexes: [] }
      this.#claims.set(token.claim, together)
    }
    together.tokens.push(token)
    together.indexes.push(index)
  }
}

export function seqsByLane(tokens: readonly Token[]): ReadonlyMap<number, readonly number[]> {
  const byLane = new Map<number, number[]>()
  for (const { lane, seq } of tokens) {
    const seqs = byLane.get(lane)
    if (seqs === undefined) byLane.set(lane, [seq])
    else seqs.push(seq)
  }
  return byLane
}
