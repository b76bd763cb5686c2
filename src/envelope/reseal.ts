import { type Envelope, type Identity, type Opened, sealEnvelope } from './envelope.ts'
import type { KeyRing } from './keys/key-ring.ts'

/** What a backend keeps of a job, whatever its new envelope says. Only the number is signed. */
export type Kept = Pick<Envelope, 'number' | 'createdAt' | 'uniqueKey' | 'group'> &
  Partial<Pick<Envelope, 'uniqueUntil' | 'links'>>

/** What to change about a job. Its id does not change. */
export interface Contents {
  readonly identity?: Partial<Omit<Identity, 'id'>>
  readonly payload?: string
  readonly runAt: number
  /** Signs the number that the job has in the database, whoever wrote it. By default only one that was signed is signed again. */
  readonly signsNumber?: true
}

/** The same job with other contents, signed again. Only a verified job can be: one accepted without a signature gets none. */
export function reseal(opened: Opened, kept: Kept, contents: Contents, keys: KeyRing | null): Envelope {
  const { identity, payload, runAt, signsNumber = opened.isNumberSigned } = contents
  const { createdAt, uniqueKey, uniqueUntil, group, links } = kept
  const number = signsNumber ? kept.number : null
  const until = uniqueUntil === undefined ? {} : { uniqueUntil }
  const delivery = { number, createdAt, runAt, uniqueKey, ...until, group, links: links ?? null }
  const changed = { ...opened.identity, ...identity, id: opened.identity.id }
  // An encrypted payload stays as it is: it is bound to the id, which does not change.
  const isUnchanged = payload === undefined || payload === opened.text
  const envelope = sealEnvelope(changed, payload ?? opened.text, delivery, opened.signer(keys), isUnchanged)
  return signsNumber ? envelope : { ...envelope, number: kept.number }
}
