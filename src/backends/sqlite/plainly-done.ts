import type { Settlement } from '../contract.ts'
import type { Token } from './token.ts'

/** Succeeded, kept, and nothing more to write of it: by far the most, and worth a statement for all. */
export function isPlainlyDone(settlement: Settlement): boolean {
  return settlement.kind === 'done' && settlement.keep && settlement.result === null && settlement.once === undefined
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
