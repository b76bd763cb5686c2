import type { Envelope } from '../../envelope/envelope.ts'

/** A batch, split between the broker and the store. */
export interface Routed {
  /** Due, and independent of anything workers share: the broker carries them to the next worker. */
  readonly carried: readonly Envelope[]
  /** Waiting for their time or turn, with a key, a number or links: the store keeps them where they can be found. */
  readonly kept: readonly Envelope[]
}

export function routed(envelopes: readonly Envelope[], now: number): Routed {
  const waitedFor = waitedForWithin(envelopes)
  const carried: Envelope[] = []
  const kept: Envelope[] = []
  for (const envelope of envelopes) (isPlain(envelope, now) && !waitedFor.has(envelope.id) ? carried : kept).push(envelope)
  return { carried, kept }
}

/** The jobs outside a batch that jobs in the batch wait for. */
export function dependenciesOutside(envelopes: readonly Envelope[]): ReadonlySet<string> {
  const outside = new Set(waitedForWithin(envelopes))
  for (const { id } of envelopes) outside.delete(id)
  return outside
}

/**
 * Removes keys, numbers and links. They are not signed in a broker's message, and no job that has them is ever given to a broker.
 * So someone with write access to the broker can neither take a key nor link a job to others in the store.
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
