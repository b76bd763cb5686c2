import type { Lease, OnceMark, Settlement, SettleReceipt } from '../backends/contract.ts'
import { type Envelope, identityOf } from '../envelope/envelope.ts'
import type { KeyRing } from '../envelope/key-ring.ts'
import { type SealingJob, sealOnce, sealResult } from '../envelope/result-seal.ts'

/** The job that a settlement ends, as it was verified when it was claimed. */
export type SettledJob = Pick<Envelope, 'id' | 'identity'>

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
  { envelope, linked = false }: Pick<Lease, 'envelope' | 'linked'>,
  keys: KeyRing | null,
  settle: (settlement: Settlement) => Promise<SettleReceipt>,
): Promise<FinalReceipt> {
  if (settlement.kind === 'done' && !handsOn(settlement, linked)) {
    const receipt = await settle({ ...settlement, unlinked: true })
    // Otherwise somebody waits for it since it was claimed.
    if (receipt !== 'unsealed') return receipt
  }
  return (await settle(sealed(settlement, envelope, keys))) as FinalReceipt
}

/** The same settlement, signed where it is one that can be, and its result encrypted where that of the job is to be. */
export function sealed(settlement: Settlement, { id, identity }: SettledJob, keys: KeyRing | null): Settlement {
  switch (settlement.kind) {
    case 'done': {
      const { once } = settlement
      const job = sealingJob(id, identity)
      const stored = sealResult({ id, outcome: 'succeeded', result: settlement.result }, job, keys)
      return { ...settlement, ...stored, ...(once && { once: sealedMark(once, settlement.result, job, keys) }) }
    }
    case 'skipped': {
      const { result = null, encrypted, ...rest } = settlement
      if (result === null) return rest
      const job = { ...sealingJob(id, identity), ...(encrypted && { encrypted }) }
      return { ...rest, ...sealResult({ id, outcome: 'skipped', result }, job, keys) }
    }
    default:
      return settlement
  }
}

/** One that is encrypted differs from what the job has: each can be read in its own place alone. */
function sealedMark(once: OnceMark, plain: string | null, job: SealingJob, keys: KeyRing | null): OnceMark {
  const { result, seal } = sealOnce({ key: once.key, result: plain }, job, keys)
  return { ...once, seal, ...(result !== plain && { result }) }
}

/** What no identity says is nobody's job, and no limited key signs for it. */
function sealingJob(id: string, text: string): SealingJob {
  const identity = identityOf(id, text)
  if (identity === undefined) return { job: '', queue: '' }
  const { job, queue, encrypted = false } = identity
  return { job, queue, encrypted }
}

function handsOn({ result, once }: Extract<Settlement, { kind: 'done' }>, linked: boolean): boolean {
  return linked || result !== null || once !== undefined
}
