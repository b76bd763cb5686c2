import { type Envelope, identityStart, type Links, type UniqueUntil } from '../../../envelope/envelope.ts'

/**
 * Envelopes as a few flat lists, the cheapest form to pass to the database thread. What consecutive envelopes have in common is
 * passed once, and rare members only for the envelopes that have them.
 */
export interface FlatEnvelopes {
  readonly kinds: readonly FlatKind[]
  /** For each envelope: its kind, id, payload, signature, creation time and run time. */
  readonly values: readonly (string | number | null)[]
  /** By the index of the envelope; null if none has any. */
  readonly rarities: ReadonlyMap<number, FlatRarities> | null
}

export interface FlatKind {
  readonly job: string
  readonly queue: string
  readonly priority: number
  readonly singleInstance: boolean
  readonly group: string | null
  /** The part of the identity after the id. */
  readonly identityEnd: string
}

export interface FlatRarities {
  readonly uniqueKey: string | null
  readonly uniqueUntil: UniqueUntil
  readonly links: Links | null
  readonly number: number | null
  /** The identity, if it is not in the standard format. */
  readonly identity: string | null
}

/** One envelope without its rare members. */
export interface FlatEnvelope {
  /** Index into `kinds`. */
  readonly kindNumber: number
  readonly kind: FlatKind
  readonly id: string
  readonly payload: string
  readonly signature: string | null
  readonly createdAt: number
  readonly runAt: number
}

const stride = 6

export function flatten(envelopes: readonly Envelope[]): FlatEnvelopes {
  const kinds: FlatKind[] = []
  const values: (string | number | null)[] = []
  let rarities: Map<number, FlatRarities> | null = null
  let kind: FlatKind | undefined
  for (let place = 0; place < envelopes.length; place++) {
    const envelope = envelopes[place] as Envelope
    const { id, payload, signature, createdAt, runAt } = envelope
    if (kind === undefined || !isOfKind(envelope, kind)) {
      kind = kindOf(envelope)
      kinds.push(kind)
    }
    values.push(kinds.length - 1, id, payload, signature, createdAt, runAt)
    const rare = raritiesOf(envelope, kind)
    if (rare !== null) {
      rarities ??= new Map()
      rarities.set(place, rare)
    }
  }
  return { kinds, values, rarities }
}

export function countOf({ values }: FlatEnvelopes): number {
  return values.length / stride
}

export function envelopeAt({ kinds, values }: FlatEnvelopes, place: number): FlatEnvelope {
  const at = place * stride
  return {
    kindNumber: values[at] as number,
    kind: kinds[values[at] as number] as FlatKind,
    id: values[at + 1] as string,
    payload: values[at + 2] as string,
    signature: values[at + 3] as string | null,
    createdAt: values[at + 4] as number,
    runAt: values[at + 5] as number,
  }
}

/** For an identity in the standard format. */
export function identityOf(id: string, { identityEnd }: FlatKind): string {
  return identityStart(id) + identityEnd
}

/** Restores the original envelopes. */
export function unflattened(flat: FlatEnvelopes): readonly Envelope[] {
  return Array.from({ length: countOf(flat) }, (_, place) => {
    const { kind, id, payload, signature, createdAt, runAt } = envelopeAt(flat, place)
    const { job, queue, priority, singleInstance, group } = kind
    const { uniqueKey, uniqueUntil, links, number, identity } = flat.rarities?.get(place) ?? ordinary
    return {
      id,
      number,
      job,
      queue,
      priority,
      singleInstance,
      identity: identity ?? identityOf(id, kind),
      payload,
      signature,
      createdAt,
      runAt,
      uniqueKey,
      uniqueUntil,
      group,
      links,
    }
  })
}

const ordinary: FlatRarities = { uniqueKey: null, uniqueUntil: 'ended', links: null, number: null, identity: null }

function isOfKind(envelope: Envelope, kind: FlatKind): boolean {
  return (
    envelope.job === kind.job &&
    envelope.queue === kind.queue &&
    envelope.priority === kind.priority &&
    envelope.singleInstance === kind.singleInstance &&
    envelope.group === kind.group &&
    envelope.identity.endsWith(kind.identityEnd)
  )
}

function kindOf({ id, job, queue, priority, singleInstance, group, identity }: Envelope): FlatKind {
  return { job, queue, priority, singleInstance, group, identityEnd: identity.slice(identityStart(id).length) }
}

/** The kind is that of the envelope: their identities end alike. */
function raritiesOf({ id, uniqueKey, uniqueUntil, links, number, identity }: Envelope, kind: FlatKind): FlatRarities | null {
  const start = identityStart(id)
  const isPlain = identity.length === start.length + kind.identityEnd.length && identity.startsWith(start)
  if (isPlain && uniqueKey === null && links === null && number === null) return null
  return { uniqueKey, uniqueUntil, links, number, identity: isPlain ? null : identity }
}
