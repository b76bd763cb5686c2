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
  isInstant,
  parseIdentity,
  saidRetries,
  tagsOf,
} from './identity.ts'

/**
 * A job as it travels. `identity` and `payload` are JSON texts that are created once, stored verbatim and signed as those bytes.
 * The other fields repeat what a backend needs for routing, and workers do not trust them.
 */
export interface Envelope {
  readonly id: string
  /**
   * The small number by which some programs know it (see `JobNumbers`); null if it has none. If another job already has this
   * number, this one is not stored.
   */
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
  /** Must not run before this instant (UTC milliseconds). */
  readonly runAt: number
  /** While a job with the same `job` holds this key, a second one is not stored. */
  readonly uniqueKey: string | null
  /** Always `ended` without a key. */
  readonly uniqueUntil: UniqueUntil
  /** The owner of the job, such as a customer, for limits and fair sharing among jobs with the same key; null means none. */
  readonly group: string | null
  /** Its place in a workflow; null if it is not part of one. */
  readonly links: Links | null
}

/**
 * How long a unique key is held: until the job is first claimed, until it has ended, until an instant (UTC milliseconds), or
 * forever. The last two outlive the job, unless it was never claimed: a job that ends or is deleted before that frees its key.
 */
export type UniqueUntil = 'started' | 'ended' | 'ever' | number

/** How a job is linked to others. None of it is signed: it determines when a job runs, not what it does. */
export interface Links {
  /** The id of the first job of the tree, or the name of a batch: shared by all jobs of one workflow. */
  readonly root: string
  readonly parent: ParentLink | null
  /** Jobs that must have ended before this one becomes ready; until then it is `blocked`. */
  readonly waitsFor: readonly WaitLink[]
  /** How long it may wait, counted from when it began to; after that it ends as dead. */
  readonly longestWaitMs: number
}

/** The job that this one was created for, and that waits for it. */
export interface ParentLink {
  readonly id: string
  /**
   * The token of the parent's lease: a job whose lease is lost can have no more children. Null if the child is created from
   * outside the parent's run, which is allowed while the parent runs or waits for its children.
   */
  readonly token: string | null
  /** Unique among the children of a parent, so that a parent that runs again finds its existing child. */
  readonly key: string
  /** What the parent does if this job fails. */
  readonly onFailure: FailurePolicy
  /** How long the parent waits for its children at most. */
  readonly longestWaitMs: number
  /** As in `WaitLink`, for when another job that holds its unique key takes the place of the child. */
  readonly late?: string | null
}

export interface WaitLink {
  readonly id: string
  readonly onFailure: FailurePolicy
  /**
   * Stored instead of that job's seal if it had already succeeded without a result when no other job waited for it: see
   * `sealLateDependency`. Must not be stored in any other case.
   */
  readonly late?: string | null
}

/**
 * What happens to a job when one that it waits for ends without success. `fail`: it is dead too. `skip`: it is skipped. `ignore`:
 * the failure counts as an end, and it waits for the rest. `continue`: it runs at once without waiting for the rest. `rescue`: it
 * runs only in that case, and is skipped otherwise.
 */
export type FailurePolicy = 'fail' | 'skip' | 'ignore' | 'continue' | 'rescue'

export interface Delivery {
  readonly createdAt: number
  readonly runAt: number
  readonly uniqueKey: string | null
  /** `ended` if absent. */
  readonly uniqueUntil?: UniqueUntil
  readonly group?: string | null
  readonly links?: Links | null
  readonly number?: number | null
}

/**
 * Creates and signs an envelope; without a key ring it stays unsigned. Encrypts the payload if the identity asks for it and it is
 * not encrypted yet.
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

/** What many jobs may share: everything in an identity but the id, together with its text. */
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

/** Creates and signs the envelope of one of many jobs with the same stamp, without serialising the shared part again. */
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
    uniqueUntil: uniqueUntilOf(delivery),
    group: delivery.group ?? null,
    links: delivery.links ?? null,
  }
}

/** Without a key there is nothing to hold, so that every engine returns the same. */
export function uniqueUntilOf({ uniqueKey, uniqueUntil = 'ended' }: Pick<Delivery, 'uniqueKey' | 'uniqueUntil'>): UniqueUntil {
  return uniqueKey === null ? 'ended' : uniqueUntil
}

function encryptedPayload(plain: string, id: string, job: ScopedJob, keys: KeyRing | null): string {
  if (keys !== null) return keys.encrypt(plain, payloadContext(id), job)
  throw new TreadleError('KEY_INVALID', 'A job is encrypted with the signing key: give a signingKey, or do not ask for encrypt')
}

/** The original payload of a job, if its key is available. Verifies nothing: it is only as trustworthy as its source. */
export function readPayload(
  { id, identity, payload }: Pick<Envelope, 'id' | 'identity' | 'payload'>,
  keys: KeyRing | null,
): string {
  const encrypted = identityOf(id, identity)?.encrypted ? parseEncrypted(payload) : undefined
  if (encrypted === undefined) return payload
  if (keys !== null) return keys.decrypt(encrypted, payloadContext(id))
  throw new TreadleError('KEY_INVALID', `The payload of job ${id} is encrypted, and its key is not here`)
}

/** Binds an encrypted payload to its job. */
function payloadContext(id: string): string {
  return `payload\n${id}`
}

/** The parts of an envelope that `openEnvelope` needs. */
export type Sealed = Pick<Envelope, (typeof repeated)[number] | 'number' | 'identity' | 'payload' | 'signature'> &
  Partial<Pick<Envelope, 'createdAt' | 'runAt'>>

/** Fields of the identity that are repeated outside it for the backend. */
const repeated = ['id', 'job', 'queue', 'priority', 'singleInstance'] as const

/** Compares the fields by name instead of looping over `repeated`, because this runs for every job. */
function isRepeated(identity: Identity, sealed: Sealed): boolean {
  const { id, job, queue, priority, singleInstance } = identity
  const isSameJob = id === sealed.id && job === sealed.job && queue === sealed.queue
  return isSameJob && priority === sealed.priority && singleInstance === sealed.singleInstance
}

/** The signed texts of an envelope and their signature: what a job is replaced by, or expected to be. */
export type Seal = Pick<Envelope, 'identity' | 'payload' | 'signature'>

export function sealOf({ identity, payload, signature }: Seal): Seal {
  return { identity, payload, signature }
}

export function isSameSeal(a: Seal, b: Seal): boolean {
  return a.payload === b.payload && a.identity === b.identity && a.signature === b.signature
}

const unread = Symbol('unread')

/**
 * A verified envelope. Only such an envelope can be sealed again, so that nobody can get something signed by writing it to the
 * database. The class is not exported: only `openEnvelope` creates instances, and a copy of one does not count.
 */
class OpenedEnvelope {
  readonly identity: Identity
  /** The payload as it was signed and is stored; still encrypted if it is encrypted. */
  readonly text: string
  /** Whether the signature covers its number: it was neither assigned nor removed since it was signed. */
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
    // Refuse invalid JSON at once, but decrypt only when the payload is needed.
    this.#payload = identity.encrypted ? unread : parsedPayload(identity.id, text)
  }

  /** The parsed value of `text`. A handler may modify it. */
  get payload(): unknown {
    if (this.#payload === unread) this.#payload = decryptedPayload(this.identity.id, this.text, this.#keys)
    return this.#payload
  }

  /** The key ring that may sign this job again; null if its own signature was not checked or was missing. */
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
  if (keys !== null && sealed.signature === null) refuseEncrypted(identity)
  const { createdAt = 0, runAt = 0 } = sealed
  if (!isInstant(createdAt) || !isInstant(runAt)) throw malformed(sealed.id, 'its times are not valid')
  return new OpenedEnvelope(identity, sealed.payload, keys !== null && sealed.signature !== null, isNumberSigned, keys)
}

/**
 * Encrypting takes a key, and whoever has one also signs: the signature was removed, so that what is encrypted reaches another
 * handler, or is stored in the clear.
 */
function refuseEncrypted({ id, encrypted }: Identity): void {
  if (encrypted) throw new TreadleError('SIGNATURE_MISSING', `The envelope of job ${id} is encrypted, but not signed`)
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
