import type { Settlement } from '../contract.ts'
import type { Token } from './token.ts'

/** Succeeded, kept, and nothing more to write of it: by far the most, and worth a statement for all. */
export function isPlainlyDone(settlement: Settlement): boolean {
  return settlement.kind === 'done' && settlement.keep && settlement.result === null && settlement.once === undefined
}

export interface DoneGroup {
  readonly claim: string
  readonly lane: number
  readonly seqs: number[]
  readonly indexes: number[]
}

/** Settlements of one claim and lane, together. */
export class PlainlyDone {
  readonly #groups = new Map<string, DoneGroup>()

  get groups(): Iterable<DoneGroup> {
    return this.#groups.values()
  }

  add({ seq, lane, claim }: Token, index: number): void {
    const key = `${lane}.${claim}`
    let group = this.#groups.get(key)
    if (group === undefined) {
      group = { claim, lane, seqs: [], indexes: [] }
      this.#groups.set(key, group)
    }
    group.seqs.push(seq)
    group.indexes.push(index)
  }
}
