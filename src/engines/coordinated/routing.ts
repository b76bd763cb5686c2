import type { Envelope } from '../../envelope/envelope.ts'

/** The two sides of a batch. */
export interface Routed {
  /** Due, and in need of nothing that workers share: the broker carries them to the next worker. */
  readonly carried: readonly Envelope[]
  /** What waits for its time or its turn, holds a key, has a number or is tied to others is kept where it can be found. */
  readonly kept: readonly Envelope[]
}

export function routed(envelopes: readonly Envelope[], now: number): Routed {
  const waitedFor = waitedForWithin(envelopes)
  const carried: Envelope[] = []
  const kept: Envelope[] = []
  for (const envelope of envelopes) (isPlain(envelope, now) && !waitedFor.has(envelope.id) ? carried : kept).push(envelope)
  return { carried, kept }
}

/** The jobs outside of a batch that jobs of it wait for. */
export function dependenciesOutside(envelopes: readonly Envelope[]): ReadonlySet<string> {
  const outside = new Set(waitedForWithin(envelopes))
  for (const { id } of envelopes) outside.delete(id)
  return outside
}

/**
 * What a broker's message says of keys, numbers and links is not signed, and no such job is given to a broker: it is left out, so that
 * whoever can write to the broker can neither take a key nor tie a job to others in the store.
 */
export function asCarried(envelope: Envelope): Envelope {
  return { ...envelope, number: null, uniqueKey: null, uniqueUntil: 'ended', links: null }
}

function isPlain({ runAt, uniqueKey, links, number, group, singleInstance }: Envelope, now: number): boolean {
  return runAt <= now && uniqueKey === null && links === null && number === null && group === null && !singleInstance
}

function waitedForWithin(envelopes: readonly Envelope[]): ReadonlySet<string> {
  const ids = new Set<string>()
  for (const { links } of envelopes) for (const { id } of links?.waitsFor ?? []) ids.add(id)
  return ids
}
