import type { Settlement, SettleReceipt } from '../backends/contract.ts'
import type { KeyRing } from '../envelope/key-ring.ts'
import { sealOnce, sealResult } from '../envelope/result-seal.ts'

/** The job that a settlement ends. */
export interface SettledJob {
  readonly id: string
  /** It is part of a workflow, or somebody is known to wait for it. */
  readonly linked: boolean
}

interface Signed {
  readonly envelope: { readonly signature: string | null }
}

/** Where it was accepted without a signature, what it leaves has none either: nobody gets one by writing a job into the database. */
export function sealingKeys({ envelope }: Signed, keys: KeyRing | null): KeyRing | null {
  return envelope.signature === null ? null : keys
}

/** A seal was asked for, and given. */
export type FinalReceipt = Exclude<SettleReceipt, 'unsealed'>

/**
 * Settles with a seal where the end of the job hands something on: a result, an idempotency key, or a success that others wait for.
 * Most jobs end with nothing of all that, and are not signed: it would take a tenth of the time that such a job costs.
 */
export async function settleSealed(
  settlement: Settlement,
  job: SettledJob,
  keys: KeyRing | null,
  settle: (settlement: Settlement) => Promise<SettleReceipt>,
): Promise<FinalReceipt> {
  if (settlement.kind === 'done' && !handsOn(settlement, job)) {
    const receipt = await settle({ ...settlement, unlinked: true })
    // Otherwise somebody waits for it since it was claimed.
    if (receipt !== 'unsealed') return receipt
  }
  return (await settle(sealed(settlement, job.id, keys))) as FinalReceipt
}

/** The same settlement, signed where it is one that can be. */
export function sealed(settlement: Settlement, id: string, keys: KeyRing | null): Settlement {
  switch (settlement.kind) {
    case 'done': {
      const { result, once } = settlement
      const seal = sealResult({ id, outcome: 'succeeded', result }, keys)
      return {
        ...settlement,
        seal,
        ...(once !== undefined && { once: { ...once, seal: sealOnce({ key: once.key, result }, keys) } }),
      }
    }
    case 'skipped': {
      const { result = null } = settlement
      return result === null ? settlement : { ...settlement, seal: sealResult({ id, outcome: 'skipped', result }, keys) }
    }
    default:
      return settlement
  }
}

function handsOn({ result, once }: Extract<Settlement, { kind: 'done' }>, { linked }: SettledJob): boolean {
  return linked || result !== null || once !== undefined
}
