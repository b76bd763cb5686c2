import { TreadleError } from '../core/errors.ts'
import { parseEncrypted } from './encryption.ts'
import type { KeyRing } from './keys/key-ring.ts'
import type { ScopedJob } from './keys/key-scope.ts'

/** Outcomes that pass on a result. Only a worker that has run or skipped the job can report them, and it signs its report. */
export type SealedOutcome = 'succeeded' | 'skipped'

/** How a job is to end. */
export interface PlainEnd {
  readonly id: string
  readonly outcome: SealedOutcome
  /** An unencrypted JSON text. */
  readonly result: string | null
}

/**
 * How a job ended, as it is stored. Its seal may be null if nothing is signed, or if no other job was known to wait for the job.
 */
export interface SealedEnd extends PlainEnd {
  readonly seal: string | null
}

/** A stored result: the text, readable or encrypted, and its seal. */
export interface StoredResult {
  readonly result: string | null
  readonly seal: string | null
}

/** A job whose result is sealed. */
export interface SealingJob extends ScopedJob {
  readonly encrypted?: boolean
  /** Only for a child: see `parentMarkOf`. */
  readonly parentMark?: string
}

/**
 * What to store when a job ends. The seal covers its id, job, queue, outcome and result. It is null if nothing is signed or no
 * key may sign for this job. It names the job and the queue because the verifier may know neither.
 */
export function sealResult(end: PlainEnd, job: SealingJob, keys: KeyRing | null): StoredResult {
  const { id, outcome } = end
  const { result, isEncrypted } = storedText(end.result, resultContext(id), job, keys)
  const signature = keys?.signText(resultText({ id, outcome, result }, job, isEncrypted), job) ?? null
  return { result, seal: signature === null ? null : `${signature}.${encodedJob(job)}` }
}

/**
 * Decrypts and verifies a result. Throws `RESULT_FORGED` unless the holder of a key for this job has signed that it ended like
 * this. `job` is what is known about the job: a key for all jobs vouches for any of them. `parentMark` is that of the job that
 * uses the result, so that a child of one job cannot pass for the child of another.
 */
export function openResult(end: SealedEnd, job: Partial<ScopedJob>, keys: KeyRing | null, parentMark?: string): string | null {
  const what = `The result of job ${end.id}`
  if (isUnsealed(end, keys, what)) return end.result
  const signature = end.seal?.slice(0, end.seal.lastIndexOf('.')) ?? ''
  const sealing = decodedJob(end.seal?.slice(signature.length + 1) ?? '')
  if (sealing === undefined) throw changed(what)
  const isAnothers = parentMark !== undefined && sealing.parentMark !== undefined && sealing.parentMark !== parentMark
  if (isAnothers) throw changed(what)
  const expected = { ...sealing, ...job }
  const isVouchedFor = (isEncrypted: boolean) =>
    keys.verifyText(resultText(end, sealing, isEncrypted), signature, sealing) &&
    (keys.isUnlimited(signature) || (expected.job === sealing.job && expected.queue === sealing.queue))
  return readText(end.result, isVouchedFor, resultContext(end.id), keys, what)
}

/** The result that a finished run leaves under its idempotency key. The key takes the place of the id. */
export interface SealedOnce extends StoredResult {
  readonly key: string
}

export function sealOnce(once: Omit<SealedOnce, 'seal'>, job: SealingJob, keys: KeyRing | null): StoredResult {
  const { key } = once
  const { result, isEncrypted } = storedText(once.result, onceContext(key), job, keys)
  return { result, seal: keys?.signText(onceText({ key, result }, isEncrypted), job) ?? null }
}

/** Like `openResult`, for a job with the same idempotency key. Requires a signing key that may sign for `job`. */
export function openOnce(once: SealedOnce, job: ScopedJob, keys: KeyRing | null): OpenedOnce {
  const what = `The result kept under the idempotency key "${once.key}"`
  if (isUnsealed(once, keys, what)) return { result: once.result, wasEncrypted: false, wasSigned: false }
  const isVouchedFor = (isEncrypted: boolean) => keys.verifyText(onceText(once, isEncrypted), once.seal ?? '', job)
  const result = readText(once.result, isVouchedFor, onceContext(once.key), keys, what)
  return { result, wasEncrypted: result !== once.result, wasSigned: true }
}

export interface OpenedOnce {
  readonly result: string | null
  /** If so, it must be stored encrypted again. */
  readonly wasEncrypted: boolean
  /** If not, it was accepted without a signature, and whoever takes it over must not sign it. */
  readonly wasSigned: boolean
}

/** A job that another one waits for: a dependency identified by its position, or a child by its key. */
export interface Dependency {
  readonly waiter: string
  readonly place: number | string
}

/**
 * Made by the sender of a waiting job for each job that it waits for, with a key for the waiting job. It is stored in one case
 * only: the other job had already succeeded without a result when no other job waited for it, so its end was not sealed.
 */
export function sealLateDependency(dependency: Dependency, waiter: ScopedJob, keys: KeyRing | null): string | null {
  return keys?.signText(lateText(dependency), waiter) ?? null
}

export function isLateDependency(dependency: Dependency, seal: string | null, waiter: ScopedJob, keys: KeyRing): boolean {
  return seal !== null && keys.verifyText(lateText(dependency), seal, waiter)
}

function storedText(
  plain: string | null,
  context: string,
  job: SealingJob,
  keys: KeyRing | null,
): { readonly result: string | null; readonly isEncrypted: boolean } {
  if (plain === null || job.encrypted !== true || keys === null) return { result: plain, isEncrypted: false }
  return { result: keys.encrypt(plain, context, job), isEncrypted: true }
}

/** Whether there is nothing to verify. Throws if a required seal is missing. */
function isUnsealed({ seal }: StoredResult, keys: KeyRing | null, what: string): keys is null {
  if (keys === null || (seal === null && keys.acceptsUnsigned)) return true
  if (seal !== null) return false
  const message = `${what} is not signed: it was changed in the database, or written by a version of Treadle that did not sign results`
  throw new TreadleError('RESULT_FORGED', message)
}

/** The seal says whether a text is encrypted, because a handler may return a text that only looks encrypted. */
function readText(
  text: string | null,
  isVouchedFor: (isEncrypted: boolean) => boolean,
  context: string,
  keys: KeyRing,
  what: string,
): string | null {
  const encrypted = text === null ? undefined : parseEncrypted(text)
  if (encrypted !== undefined && isVouchedFor(true)) {
    try {
      return keys.decrypt(encrypted, context)
    } catch (cause) {
      throw new TreadleError('RESULT_FORGED', `${what} cannot be decrypted`, { cause })
    }
  }
  if (!isVouchedFor(false)) throw changed(what)
  return text
}

function changed(what: string): TreadleError {
  const message = `${what} was changed after it was signed, or signed with a key that is not in the key ring or may not sign for this job`
  return new TreadleError('RESULT_FORGED', message)
}

function encodedJob({ job, queue, parentMark }: SealingJob): string {
  return Buffer.from(JSON.stringify(parentMark === undefined ? [job, queue] : [job, queue, parentMark])).toString('base64url')
}

function decodedJob(text: string): SealingJob | undefined {
  try {
    const [job, queue, parentMark] = JSON.parse(Buffer.from(text, 'base64url').toString()) as readonly unknown[]
    if (typeof job !== 'string' || typeof queue !== 'string') return undefined
    return typeof parentMark === 'string' ? { job, queue, parentMark } : { job, queue }
  } catch {
    return undefined
  }
}

function resultContext(id: string): string {
  return `result\n${id}`
}

function onceContext(key: string): string {
  return `once\n${key}`
}

// The first line is JSON and names what is signed, so that no text can pass for another kind, nor for an envelope.
function resultText({ id, outcome, result }: PlainEnd, { job, queue, parentMark }: SealingJob, isEncrypted: boolean): string {
  const parts = ['result', id, job, queue, outcome, kindOf(result, isEncrypted)]
  return `${JSON.stringify(parentMark === undefined ? parts : [...parts, parentMark])}\n${result ?? ''}`
}

function onceText({ key, result }: Omit<SealedOnce, 'seal'>, isEncrypted: boolean): string {
  return `${JSON.stringify(['once', key, kindOf(result, isEncrypted)])}\n${result ?? ''}`
}

function kindOf(result: string | null, isEncrypted: boolean): 'none' | 'plain' | 'encrypted' {
  return result === null ? 'none' : isEncrypted ? 'encrypted' : 'plain'
}

function lateText({ waiter, place }: Dependency): string {
  return `${JSON.stringify(['late', waiter, place])}\n`
}
