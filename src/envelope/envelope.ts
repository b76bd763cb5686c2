import { messageOf, TreadleError } from '../core/errors.ts'
import { parseEncrypted } from './encryption.ts'
import { type Identity, identityOf, identityStart, identityTail, isInstant } from './identity.ts'
import type { KeyRing } from './keys/key-ring.ts'
import type { ScopedJob } from './keys/key-scope.ts'

export {
  envelopeVersion,
  hasTags,
  type Identity,
  identityOf,
  identityStart,
  parseIdentity,
  saidRetries,
  tagsOf,
} from './identity.ts'

/**
 * A job as it travels. `identity` and `payload` are JSON texts that are made once, stored verbatim and signed as those bytes;
 * the other fields repeat what a backend needs for routing, and workers do not trust them.
 */
export interface Envelope {
  readonly id: string
  /** What programs call it that know jobs by small numbers (see `JobNumbers`); null where nobody does. Where another job has it, this one is not stored. */
  readonly number: number | null
  /** The key of the definition that handles it. */
  readonly job: string
  readonly queue: string
  /** Higher is sooner. */
  readonly priority: number
  readonly singleInstance: boolean
  readonly identity: string
  readonly payload: string
  readonly signature: string | null
  readonly createdAt: number
  /** Not to be run before this instant (UTC milliseconds). */
  readonly runAt: number
  /** While a job with this key and the same `job` holds it, a second one is not stored. */
  readonly uniqueKey: string | null
  readonly uniqueUntil: UniqueUntil
  /** Whose job it is (a customer's, say), for limits and fair shares among the jobs with the same key; null is nobody's. */
  readonly group: string | null
  /** Its place in a workflow; null where it stands alone. */
  readonly links: Links | null
}

/**
 * How long a unique key is held: until the job is first claimed, until it has ended, until an instant (UTC milliseconds), or for
 * ever. The last two outlive the job, unless it was never claimed: a job that ends or is deleted before that frees its key.
 */
export type UniqueUntil = 'started' | 'ended' | 'ever' | number

/** How a job is tied to others. Nothing of it is signed: it says when a job runs, not what it does. */
export interface Links {
  /** The first job of the tree, or what a batch is called: all jobs of one workflow have it in common. */
  readonly root: string
  readonly parent: ParentLink | null
  /** Jobs that must have ended before this one becomes ready; until then it is `blocked`. */
  readonly waitsFor: readonly WaitLink[]
  /** It does not wait for longer than this, counted from when it began to; then it ends as dead. */
  readonly longestWaitMs: number
}

/** The job that this one was made for, and that waits for it. */
export interface ParentLink {
  readonly id: string
  /**
   * Of the parent's lease: a job whose lease is lost cannot have children any more. Null where somebody else makes the child,
   * who may do so while the parent runs or waits for its children.
   */
  readonly token: string | null
  /** One for each child of a parent: a parent that runs again finds the child that it has. */
  readonly key: string
  /** What the parent does when this job fails. */
  readonly onFailure: FailurePolicy
  /** The parent does not wait for its children for longer than this. */
  readonly longestWaitMs: number
  /** As in `WaitLink`, for the case that another job, which holds its unique key, stands for the child. */
  readonly late?: string | null
}

export interface WaitLink {
  readonly id: string
  readonly onFailure: FailurePolicy
  /**
   * Kept in the place of that job's seal where it succeeded before, without a result, when nobody waited for it: see
   * `sealLateDependency`. In any other case it must not be stored.
   */
  readonly late?: string | null
}

/**
 * What becomes of a job when one that it waits for ended without success: it is dead too, is skipped, counts it as ended and
 * waits for the rest, or runs at once without waiting for the rest. With `rescue` it runs only then, and is skipped otherwise.
 */
export type FailurePolicy = 'fail' | 'skip' | 'ignore' | 'continue' | 'rescue'

export interface Delivery {
  readonly createdAt: number
  readonly runAt: number
  readonly uniqueKey: string | null
  /** `ended` where nothing is said. */
  readonly uniqueUntil?: UniqueUntil
  readonly group?: string | null
  readonly links?: Links | null
  readonly number?: number | null
}

/**
 * Makes and signs an envelope. Without a key ring it travels unsigned. The payload of one that is to travel encrypted is encrypted
 * here, unless it is already.
 */
export function sealEnvelope(
  identity: Identity,
  payload: string,
  delivery: Delivery,
  keys: KeyRing | null,
  isEncrypted = false,
): Envelope {
  return stamp(stampOf(identity), identity.id, payload, delivery, keys, isEncrypted)
}

/** What many jobs may have in common: all of an identity but the id, and the text that it travels as. */
export interface Stamp {
  readonly job: string
  readonly queue: string
  readonly priority: number
  readonly singleInstance: boolean
  readonly encrypted: boolean
  readonly text: string
}

export function stampOf(identity: Omit<Identity, 'id'>): Stamp {
  const { job, queue, priority, singleInstance, encrypted = false } = identity
  return { job, queue, priority, singleInstance, encrypted, text: identityTail(identity) }
}

/** Makes and signs the envelope of one of many jobs with the same stamp: nothing is written that they have in common. */
export function stamp(
  { job, queue, priority, singleInstance, encrypted, text }: Stamp,
  id: string,
  plain: string,
  delivery: Delivery,
  keys: KeyRing | null,
  isEncrypted = false,
): Envelope {
  const identity = identityStart(id) + text
  const payload = encrypted && !isEncrypted ? encryptedPayload(plain, id, { job, queue }, keys) : plain
  const { number = null } = delivery
  return {
    id,
    number,
    job,
    queue,
    priority,
    singleInstance,
    identity,
    payload,
    signature: keys === null ? null : keys.sign(identity, payload, number),
    createdAt: delivery.createdAt,
    runAt: delivery.runAt,
    uniqueKey: delivery.uniqueKey,
    uniqueUntil: delivery.uniqueUntil ?? 'ended',
    group: delivery.group ?? null,
    links: delivery.links ?? null,
  }
}

function encryptedPayload(plain: string, id: string, job: ScopedJob, keys: KeyRing | null): string {
  if (keys !== null) return keys.encrypt(plain, payloadContext(id), job)
  throw new TreadleError('KEY_INVALID', 'A job is encrypted with the signing key: give a signingKey, or do not ask for encrypt')
}

/** The payload of a job as it was given, where its key is here. Nothing is verified: it is as trustworthy as where it was read. */
export function readPayload(
  { id, identity, payload }: Pick<Envelope, 'id' | 'identity' | 'payload'>,
  keys: KeyRing | null,
): string {
  const encrypted = identityOf(id, identity)?.encrypted ? parseEncrypted(payload) : undefined
  if (encrypted === undefined) return payload
  if (keys !== null) return keys.decrypt(encrypted, payloadContext(id))
  throw new TreadleError('KEY_INVALID', `The payload of job ${id} is encrypted, and its key is not here`)
}

/** A payload is of no use in another job. */
function payloadContext(id: string): string {
  return `payload\n${id}`
}

/** The parts of an envelope that opening it looks at. */
export type Sealed = Pick<Envelope, (typeof repeated)[number] | 'number' | 'identity' | 'payload' | 'signature'> &
  Partial<Pick<Envelope, 'createdAt' | 'runAt'>>

/** Fields of the identity that stand outside of it too, for the backend. */
const repeated = ['id', 'job', 'queue', 'priority', 'singleInstance'] as const

/** Each by its name, and not in a loop over `repeated`: every job that is run is asked this. */
function isRepeated(identity: Identity, sealed: Sealed): boolean {
  const { id, job, queue, priority, singleInstance } = identity
  const isSameJob = id === sealed.id && job === sealed.job && queue === sealed.queue
  return isSameJob && priority === sealed.priority && singleInstance === sealed.singleInstance
}

/** The texts of an envelope that its signature is about, and the signature: what a job is replaced by, or expected to be. */
export type Seal = Pick<Envelope, 'identity' | 'payload' | 'signature'>

export function sealOf({ identity, payload, signature }: Seal): Seal {
  return { identity, payload, signature }
}

export function isSameSeal(a: Seal, b: Seal): boolean {
  return a.payload === b.payload && a.identity === b.identity && a.signature === b.signature
}

const unread = Symbol('unread')

/**
 * An envelope that was verified. Nothing else can be sealed again, so that nobody can have something signed by writing it into the
 * database. The class is not exported: `openEnvelope` alone makes one, and a copy of one is none.
 */
class OpenedEnvelope {
  readonly identity: Identity
  /** The payload as it was signed, and as it is stored: an encrypted one is not readable. */
  readonly text: string
  /** Nobody has given it its number, or taken it away, since it was signed. */
  readonly isNumberSigned: boolean
  readonly #isSigned: boolean
  readonly #keys: KeyRing | null
  #payload: unknown

  constructor(identity: Identity, text: string, isSigned: boolean, isNumberSigned: boolean, keys: KeyRing | null) {
    this.identity = identity
    this.isNumberSigned = isNumberSigned
    this.text = text
    this.#isSigned = isSigned
    this.#keys = keys
    // What is not JSON is refused at once; what is encrypted is decrypted only where somebody wants to know what it says.
    this.#payload = identity.encrypted ? unread : parsedPayload(identity.id, text)
  }

  /** What `text` says. A handler may change what is inside of it. */
  get payload(): unknown {
    if (this.#payload === unread) this.#payload = decryptedPayload(this.identity.id, this.text, this.#keys)
    return this.#payload
  }

  /** What may sign this job again: nothing, where its own signature was not looked at or was not there. */
  signer(keys: KeyRing | null): KeyRing | null {
    return this.#isSigned ? keys : null
  }
}

export type Opened = OpenedEnvelope

/** Verifies and parses an envelope; throws `SIGNATURE_MISSING`, `SIGNATURE_INVALID` or `ENVELOPE_MALFORMED`. */
export function openEnvelope(sealed: Sealed, keys: KeyRing | null): Opened {
  const isNumberSigned = keys?.verify(sealed.identity, sealed.payload, sealed.signature, sealed.number) ?? false
  const identity = identityOf(sealed.id, sealed.identity)
  if (identity === undefined) throw malformed(sealed.id, 'its identity is not one that this version of Treadle writes')
  if (!isRepeated(identity, sealed)) {
    const changed = repeated.find((field) => identity[field] !== sealed[field])
    throw malformed(sealed.id, `its ${changed} was changed after it was sealed`)
  }
  const { createdAt = 0, runAt = 0 } = sealed
  if (!isInstant(createdAt) || !isInstant(runAt)) throw malformed(sealed.id, 'its times are none')
  return new OpenedEnvelope(identity, sealed.payload, keys !== null && sealed.signature !== null, isNumberSigned, keys)
}

function parsedPayload(id: string, payload: string): unknown {
  try {
    return JSON.parse(payload)
  } catch (cause) {
    throw malformed(id, 'its payload is not JSON', cause)
  }
}

function decryptedPayload(id: string, payload: string, keys: KeyRing | null): unknown {
  const encrypted = parseEncrypted(payload)
  if (encrypted === undefined) throw malformed(id, 'its payload should be encrypted, and is not')
  if (keys === null) throw malformed(id, 'its payload is encrypted, and this program has no key')
  let plain: string
  try {
    plain = keys.decrypt(encrypted, payloadContext(id))
  } catch (cause) {
    throw malformed(id, `its payload cannot be decrypted: ${messageOf(cause)}`, cause)
  }
  return parsedPayload(id, plain)
}

function malformed(id: string, why: string, cause?: unknown): TreadleError {
  return new TreadleError('ENVELOPE_MALFORMED', `The envelope of job ${id} is refused: ${why}`, { cause })
}
