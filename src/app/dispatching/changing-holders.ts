import { type Steps, wait } from '../../core/answer.ts'
import { TreadleError } from '../../core/errors.ts'
import { type Opened, openEnvelope, type Seal, sealOf } from '../../envelope/envelope.ts'
import type { KeyRing } from '../../envelope/keys/key-ring.ts'
import { rejectionOf } from '../../execution/admit/refusing.ts'
import type { JoinedQueue, SendReceipt, WaitingJob } from '../../queue/contract/contract.ts'
import type { AmendAnswer } from '../../queue/contract/store.ts'
import { keyMarkOf, type Plan, type SealingDeps, sealJob, type WrittenPayload, writePayload } from './sealing.ts'

export interface ChangingDeps {
  readonly queue: Pick<JoinedQueue, 'send' | 'get' | 'amend'>
  readonly sealing: SealingDeps
  readonly maxPayloadBytes: number
}

/** Maximum number of times to try again when others change the holder first. */
const mostRounds = 50

/** Whether a job whose unique key is held should change the holder instead of being dropped. */
export function mayChangeHolder({ uniqueness }: Plan): boolean {
  return uniqueness !== null && uniqueness.onConflict !== 'ignore'
}

/**
 * Sends a job, or changes the waiting job that holds its unique key. A holder that is no longer waiting may have freed the key;
 * if it still holds the key, it is left unchanged. A holder whose envelope fails verification becomes dead, which frees the key.
 */
export function* sendOrChange(plan: Plan, payload: WrittenPayload, deps: ChangingDeps): Steps<SendReceipt> {
  const envelope = sealJob(plan, payload, deps.sealing)
  let unchangeable: string | undefined
  for (let round = 0; round < mostRounds; round++) {
    const [receipt] = (yield* wait(deps.queue.send([envelope]))) as readonly [SendReceipt]
    if (receipt.stored || receipt.id === unchangeable) return receipt
    const answer = yield* change(receipt.id, plan, payload, deps)
    if (answer === 'amended') return receipt
    if (answer !== 'changed') unchangeable = receipt.id
  }
  const message = `The job that holds the unique key "${payload.uniqueKey}" of "${plan.definition.job}" was changed by others ${mostRounds} times in between. Dispatch it again.`
  throw new TreadleError('KEY_CONTENDED', message)
}

function* change(holder: string, plan: Plan, payload: WrittenPayload, deps: ChangingDeps): Steps<AmendAnswer> {
  const maxWaitMs = plan.uniqueness?.debounce?.maxWaitMs ?? null
  const held = yield* wait(deps.queue.get(holder))
  if (held === null) return 'missing'
  const opened = yield* genuine(held, payload.uniqueKey, deps)
  if (typeof opened === 'string') return opened
  refuseAnother(opened, plan, payload.uniqueKey, deps.sealing.keys)
  const latest = maxWaitMs === null ? Number.POSITIVE_INFINITY : held.createdAt + maxWaitMs
  // A number that somebody wrote into the database does not get signed.
  const inherited = { latest, number: opened.isNumberSigned ? held.number : null, expected: sealOf(held) }
  if (plan.uniqueness?.onConflict !== 'merge') return yield* replace(holder, plan, payload, { ...inherited, opened: null }, deps)
  const written = yield* merged(plan, opened, payload, deps)
  // An encrypted payload must stay encrypted when something is merged into it.
  const encrypt = opened.identity.encrypted ?? plan.encrypt
  return yield* replace(holder, { ...plan, encrypt }, written, { ...inherited, opened }, deps)
}

/**
 * Refuses a holder that is a different job, or whose signature does not cover this key. Such a job must not be replaced, nor its
 * payload be disclosed.
 */
function refuseAnother(opened: Opened, { definition }: Plan, uniqueKey: string | null, keys: KeyRing | null): void {
  const { id, job, keyMark } = opened.identity
  const isUnmarked = keyMark === undefined && opened.signer(keys) !== null
  if (job === definition.job && !isUnmarked) return
  const what = job === definition.job ? 'signed without it' : `one of "${job}"`
  const why = `its key was changed in the database${job === definition.job ? ', or it was sent by a version that did not sign keys' : ''}`
  const message = `The unique key "${uniqueKey}" of "${definition.job}" is held by job ${id}, which is ${what}: ${why}`
  throw new TreadleError('SIGNATURE_INVALID', message)
}

/** Verifies the job that holds a key. A job that does not match its signature becomes dead, which frees the key. */
function* genuine(held: WaitingJob, uniqueKey: string | null, { queue, sealing }: ChangingDeps): Steps<Opened | AmendAnswer> {
  // Checked first: a missing signing key is no evidence against the job.
  sealing.keys?.ready()
  try {
    return withKey(openEnvelope(held, sealing.keys), uniqueKey)
  } catch (error) {
    const [answer] = yield* wait(queue.amend([rejectionOf(held, error, sealing.now())]))
    return answer === 'rejected' ? 'ended' : (answer as AmendAnswer)
  }
}

/** Which job holds a key in the database is not signed, but the key that a job was sent with is. */
function withKey(opened: Opened, uniqueKey: string | null): Opened {
  const { id, keyMark } = opened.identity
  if (keyMark === undefined || (uniqueKey !== null && keyMark === keyMarkOf(uniqueKey))) return opened
  throw new TreadleError('SIGNATURE_INVALID', `Job ${id} was signed with another unique key: its key was changed in the database`)
}

/** What a job takes over from the one that it replaces. */
interface Inherited {
  /** The job runs at this time at the latest. */
  readonly latest: number
  readonly number: number | null
  /** The job whose payload was merged into the new one; null if the payload was replaced. */
  readonly opened: Opened | null
  /** The seal that was verified. If the holder has changed since, the new one is verified as well. */
  readonly expected: Seal
}

function* replace(
  holder: string,
  plan: Plan,
  payload: WrittenPayload,
  { latest, number, opened, expected }: Inherited,
  { queue, sealing }: ChangingDeps,
): Steps<AmendAnswer> {
  const keys = opened === null ? sealing.keys : opened.signer(sealing.keys)
  const sealed = sealJob(plan, payload, { ...sealing, keys, newId: () => holder }, { number })
  const envelope = { ...sealed, runAt: Math.min(sealed.runAt, latest) }
  const [answer] = yield* wait(queue.amend([{ id: holder, expected, envelope }]))
  return answer as AmendAnswer
}

/** Validates and serializes the merged payload as if it had been dispatched that way. */
function* merged(plan: Plan, held: Opened, payload: WrittenPayload, deps: ChangingDeps): Steps<WrittenPayload> {
  const whole = mergedPayload(held.payload, JSON.parse(payload.text))
  const written = yield* wait(writePayload(plan, whole, deps.maxPayloadBytes))
  return { ...written, uniqueKey: payload.uniqueKey }
}

/** Shallow merge if both are objects; otherwise the new value replaces the old one. */
function mergedPayload(old: unknown, added: unknown): unknown {
  return isObject(old) && isObject(added) ? { ...old, ...added } : added
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
