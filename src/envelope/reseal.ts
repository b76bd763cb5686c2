import { type Envelope, type Identity, sealEnvelope } from './envelope.ts'
import type { KeyRing } from './key-ring.ts'

/** What a backend keeps of a job, whatever its envelope says from now on. */
export type Kept = Pick<Envelope, 'number' | 'createdAt' | 'uniqueKey' | 'group'> &
  Partial<Pick<Envelope, 'uniqueUntil' | 'links'>>

export interface Contents {
  readonly identity: Identity
  readonly payload: string
  readonly runAt: number
}

/** The same job with other contents, signed anew. */
export function reseal(kept: Kept, { identity, payload, runAt }: Contents, keys: KeyRing | null): Envelope {
  const { number, createdAt, uniqueKey, uniqueUntil, group, links } = kept
  const until = uniqueUntil === undefined ? {} : { uniqueUntil }
  return sealEnvelope(identity, payload, { number, createdAt, runAt, uniqueKey, ...until, group, links: links ?? null }, keys)
}
