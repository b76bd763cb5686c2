import { type Steps, wait } from '../../core/answer.ts'
import { TreadleError } from '../../core/errors.ts'
import { type Opened, openEnvelope, type Seal, sealOf } from '../../envelope/envelope.ts'
import type { KeyRing } from '../../envelope/keys/key-ring.ts'
import { rejectionOf } from '../../execution/admit/refusing.ts'
import type { JoinedQueue, SendReceipt, WaitingJob } from '../../queue/contract/contract.ts'
import type { AmendAnswer } from '../../queue/contract/store.ts'
import { keyMarkOf, type Plan, type SealingDeps, sealJob, type WrittenPayload, writePayload } from './sealing.ts'

export interface ChangingDeps {
  readonly queue: Pick<JoinedQueue, 'send' | 'get' | 'amend' | 'reject'>
  readonly sealing: SealingDeps
  readonly maxPayloadBytes: number
}

/** So often others may come first before it is given up. */
const mostRounds = 50

/** Whether a job whose unique key is held is to change the holder in place of being left out. */
export function mayChangeHolder({ uniqueness }: Plan): boolean {
  return uniqueness !== null && uniqueness.onConflict !== 'ignore'
}

/**
 * Sends a job, or changes the waiting one that holds its unique key. A holder that does not wait any more may have freed the key;
 * one that holds it all the same is left as it is. One whose envelope is refused ends as dead, which frees the key.
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
  const inherited = { latest, number: held.number, expected: sealOf(held) }
  if (plan.uniqueness?.onConflict !== 'merge') return yield* replace(holder, plan, payload, { ...inherited, opened: null }, deps)
  const written = yield* merged(plan, opened, payload, deps)
  // What was encrypted is not stored in the clear because of something that was added to it.
  const encrypt = opened.identity.encrypted ?? plan.encrypt
  return yield* replace(holder, { ...plan, encrypt }, written, { ...inherited, opened }, deps)
}

/** A job of another kind must neither be replaced nor told to anybody, and nor must one of which nobody has signed that it has this key. */
function refuseAnother(opened: Opened, { definition }: Plan, uniqueKey: string | null, keys: KeyRing | null): void {
  const { id, job, keyMark } = opened.identity
  const isUnmarked = keyMark === undefined && opened.signer(keys) !== null
  if (job === definition.job && !isUnmarked) return
  const what = job === definition.job ? 'signed without it' : `one of "${job}"`
  const why = `its key was changed in the database${job === definition.job ? ', or it was sent by a version that did not sign keys' : ''}`
  const message = `The unique key "${uniqueKey}" of "${definition.job}" is held by job ${id}, which is ${what}: ${why}`
  throw new TreadleError('SIGNATURE_INVALID', message)
}

/** What was verified of a job that holds a key. One that is not what was signed is dead from here on, and holds it no more. */
function* genuine(held: WaitingJob, uniqueKey: string | null, { queue, sealing }: ChangingDeps): Steps<Opened | AmendAnswer> {
  // A key that is missing says nothing against the job.
  sealing.keys?.ready()
  try {
    return withKey(openEnvelope(held, sealing.keys), uniqueKey)
  } catch (error) {
    const [answer] = yield* wait(queue.reject([rejectionOf(held, error, sealing.now())]))
    return answer === 'rejected' ? 'ended' : (answer as AmendAnswer)
  }
}

/** What holds a key in the database is not signed, but the key that a job was sent with is. */
function withKey(opened: Opened, uniqueKey: string | null): Opened {
  const { id, keyMark } = opened.identity
  if (keyMark === undefined || (uniqueKey !== null && keyMark === keyMarkOf(uniqueKey))) return opened
  throw new TreadleError('SIGNATURE_INVALID', `Job ${id} was signed with another unique key: its key was changed in the database`)
}

/** What a job that takes the place of another one has of it. */
interface Inherited {
  /** It runs no later than this. */
  readonly latest: number
  readonly number: number | null
  /** What its payload was made of; null where it is all its own. */
  readonly opened: Opened | null
  /** What was verified: another one that came in between is looked at too. */
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

/** Checked and written as if it had been dispatched like that. */
function* merged(plan: Plan, held: Opened, payload: WrittenPayload, deps: ChangingDeps): Steps<WrittenPayload> {
  const whole = mergedPayload(held.payload, JSON.parse(payload.text))
  const written = yield* wait(writePayload(plan, whole, deps.maxPayloadBytes))
  return { ...written, uniqueKey: payload.uniqueKey }
}

/** Member by member where both are objects, and no deeper; anything else is replaced. */
export function mergedPayload(old: unknown, added: unknown): unknown {
  return isObject(old) && isObject(added) ? { ...old, ...added } : added
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
