import type { Settlement } from '../../../queue/contract/contract.ts'

/** For a job that succeeded, is kept and has nothing else to record, only the token is passed to the database thread. */
export type FlatSettlement = string | Settlement

export function flattenSettlements(settlements: readonly Settlement[]): readonly FlatSettlement[] {
  return settlements.map((settlement) => (isPlainlyDone(settlement) ? settlement.token : settlement))
}

/** By far the most common case. */
function isPlainlyDone(settlement: Settlement): boolean {
  if (settlement.kind !== 'done' || settlement.once !== undefined || settlement.alone !== undefined) return false
  return settlement.keep && settlement.result === null && settlement.seal == null && settlement.unlinked === true
}

export function settlementOf(flat: FlatSettlement): Settlement {
  return typeof flat === 'string' ? { token: flat, kind: 'done', result: null, keep: true, unlinked: true } : flat
}
