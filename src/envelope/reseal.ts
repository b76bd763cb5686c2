import { type Envelope, type Identity, type Opened, sealEnvelope } from './envelope.ts'
import type { KeyRing } from './keys/key-ring.ts'

/** What a backend keeps of a job, whatever its envelope says from now on. Nothing of it but the number is signed. */
export type Kept = Pick<Envelope, 'number' | 'createdAt' | 'uniqueKey' | 'group'> &
  Partial<Pick<Envelope, 'uniqueUntil' | 'links'>>

/** What is to be different about a job. It stays the one that it is: its id does not change. */
export interface Contents {
  readonly identity?: Partial<Omit<Identity, 'id'>>
  readonly payload?: string
  readonly runAt: number
}

/**
 * The same job with other contents, signed anew. Only what was verified can be: a job that was accepted without a signature gets none.
 */
export function reseal(opened: Opened, kept: Kept, { identity, payload, runAt }: Contents, keys: KeyRing | null): Envelope {
  const { number, createdAt, uniqueKey, uniqueUntil, group, links } = kept
  const until = uniqueUntil === undefined ? {} : { uniqueUntil }
  const delivery = { number, createdAt, runAt, uniqueKey, ...until, group, links: links ?? null }
  const changed = { ...opened.identity, ...identity, id: opened.identity.id }
  // What is encrypted already stays so: it is bound to the id, which does not change.
  const isUnchanged = payload === undefined || payload === opened.text
  return sealEnvelope(changed, payload ?? opened.text, delivery, opened.signer(keys), isUnchanged)
}
