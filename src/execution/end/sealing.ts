import { type Envelope, identityOf } from '../../envelope/envelope.ts'
import type { KeyRing } from '../../envelope/keys/key-ring.ts'
import { type SealingJob, sealOnce, sealResult } from '../../envelope/result-seal.ts'
import { storedError } from '../../envelope/stored-error.ts'
import type { Lease, OnceMark, Settlement, SettleReceipt } from '../../queue/contract/contract.ts'

/** The job that a settlement ends, as it was verified when it was claimed. */
export type SettledJob = Pick<Envelope, 'id' | 'identity'>

interface Signed {
  readonly envelope: { readonly signature?: string | null }
}

/**
 * A job that was accepted without a signature ends without one too, so that nobody can get a signature by writing a job to the
 * database.
 */
export function sealingKeys({ envelope }: Signed, keys: KeyRing | null): KeyRing | null {
  return envelope.signature === null ? null : keys
}

/** `unsealed` cannot occur: the seal was added when required. */
export type FinalReceipt = Exclude<SettleReceipt, 'unsealed'>

/**
 * Adds a seal if the end of the job passes something on: a result, an idempotency key, or a success that others wait for. Most
 * jobs pass on nothing and are not signed, because that would make them a fifth more expensive. A program that wants it anyway
 * sets `signEveryEnd`.
 */
export async function settleSealed(
  settlement: Settlement,
  lease: Pick<Lease, 'linked'> & { readonly envelope: SettledJob },
  keys: KeyRing | null,
  settle: (settlement: Settlement) => Promise<SettleReceipt>,
): Promise<FinalReceipt> {
  const receipt = await settle(unsealedIfPlain(settlement, lease, keys) ?? sealed(settlement, lease.envelope, keys))
  // Another job has started to wait for it since it was claimed.
  return receipt === 'unsealed' ? ((await settle(sealed(settlement, lease.envelope, keys))) as FinalReceipt) : receipt
}

/** The settlement of a job that passes nothing on, valid unless another job waits for it by now; null if it needs a seal. */
export function unsealedIfPlain(
  settlement: Settlement,
  { linked = false }: Pick<Lease, 'linked'>,
  keys: KeyRing | null,
): Settlement | null {
  if (settlement.kind !== 'done' || handsOn(settlement, linked) || keys?.signsEveryEnd === true) return null
  const { token, keep, alone } = settlement
  const plain = { token, kind: 'done', result: null, keep, unlinked: true } as const
  return alone === undefined ? plain : { ...plain, alone }
}

/** Signs the settlement if its kind can be signed, and encrypts its result or error if the job is encrypted. */
export function sealed(settlement: Settlement, { id, identity }: SettledJob, keys: KeyRing | null): Settlement {
  switch (settlement.kind) {
    case 'done': {
      const { once } = settlement
      const job = sealingJob(id, identity)
      const stored = sealResult({ id, outcome: 'succeeded', result: settlement.result }, job, keys)
      return { ...settlement, ...stored, ...(once && { once: sealedMark(once, settlement.result, job, keys) }) }
    }
    case 'skipped': {
      const { result = null, encrypted, unsigned, ...rest } = settlement
      if (result === null) return rest
      if (unsigned) return { ...rest, result }
      const job = { ...sealingJob(id, identity), ...(encrypted && { encrypted }) }
      return { ...rest, ...sealResult({ id, outcome: 'skipped', result }, job, keys) }
    }
    case 'retry':
      return { ...settlement, error: storedError(settlement.error, { id, identity }, keys) }
    case 'dead':
      return { ...settlement, error: storedError(settlement.error, { id, identity }, keys) }
    default:
      return settlement
  }
}

/** An encrypted result differs from the job's own: each can be decrypted only in its own context. */
function sealedMark(once: OnceMark, plain: string | null, job: SealingJob, keys: KeyRing | null): OnceMark {
  const { result, seal } = sealOnce({ key: once.key, result: plain }, job, keys)
  return { ...once, seal, ...(result !== plain && { result }) }
}

/** Without a readable identity it counts as no known job, and no limited key signs for it. */
function sealingJob(id: string, text: string): SealingJob {
  const identity = identityOf(id, text)
  if (identity === undefined) return { job: '', queue: '' }
  const { job, queue, encrypted = false, parentMark } = identity
  return parentMark === undefined ? { job, queue, encrypted } : { job, queue, encrypted, parentMark }
}

function handsOn({ result, once }: Extract<Settlement, { kind: 'done' }>, linked: boolean): boolean {
  return linked || result !== null || once !== undefined
}
