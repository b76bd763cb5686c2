import { TreadleError } from '../core/errors.ts'
import type { KeyRing } from './key-ring.ts'

/** Ends that hand on a result: only a worker that has run, or skipped, the job can say so, and it signs what it says. */
export type SealedOutcome = 'succeeded' | 'skipped'

/** How a job has ended, as it is stored. Its seal may be null where nobody signs, and where nobody was known to wait for the job. */
export interface SealedEnd {
  readonly id: string
  readonly outcome: SealedOutcome
  /** A JSON text. */
  readonly result: string | null
  readonly seal: string | null
}

/** The seal of a job's end, over its id, its outcome and its result; null where nothing is signed. */
export function sealResult(end: Omit<SealedEnd, 'seal'>, keys: KeyRing | null): string | null {
  return keys === null ? null : keys.signText(resultText(end))
}

/** Throws `RESULT_FORGED` unless whoever holds a key has said that the job ended like this. */
export function verifyResult(end: SealedEnd, keys: KeyRing | null): void {
  verify(resultText(end), end.seal, keys, `The result of job ${end.id}`)
}

/** What a run that has finished under an idempotency key has left for the others: the key takes the place of the id. */
export interface SealedOnce {
  readonly key: string
  readonly result: string | null
  readonly seal: string | null
}

export function sealOnce(once: Omit<SealedOnce, 'seal'>, keys: KeyRing | null): string | null {
  return keys === null ? null : keys.signText(onceText(once))
}

export function verifyOnce(once: SealedOnce, keys: KeyRing | null): void {
  verify(onceText(once), once.seal, keys, `The result kept under the idempotency key "${once.key}"`)
}

/** One of the jobs that another one waits for: a dependency by its place among them, or a child by its key. */
export interface Dependency {
  readonly waiter: string
  readonly place: number | string
}

/**
 * Given by whoever sends a job that waits, for each job that it waits for. It is stored in one case only: the job had succeeded
 * before, without a result, when nobody waited for it, so that its end was not sealed.
 */
export function sealLateDependency(dependency: Dependency, keys: KeyRing | null): string | null {
  return keys === null ? null : keys.signText(lateText(dependency))
}

export function isLateDependency(dependency: Dependency, seal: string | null, keys: KeyRing): boolean {
  return seal !== null && keys.verifyText(lateText(dependency), seal)
}

function verify(text: string, seal: string | null, keys: KeyRing | null, what: string): void {
  if (keys === null || (seal === null && keys.acceptsUnsigned)) return
  if (seal === null) {
    const message = `${what} is not signed: it was changed in the database, or written by a version of Treadle that did not sign results`
    throw new TreadleError('RESULT_FORGED', message)
  }
  if (!keys.verifyText(text, seal)) {
    throw new TreadleError(
      'RESULT_FORGED',
      `${what} was changed after it was signed, or signed with a key that is not in the key ring`,
    )
  }
}

// The first line is JSON and names what is signed, so that no text can be taken for one of another kind, nor for an envelope.
function resultText({ id, outcome, result }: Omit<SealedEnd, 'seal'>): string {
  return `${JSON.stringify(['result', id, outcome, result !== null])}\n${result ?? ''}`
}

function onceText({ key, result }: Omit<SealedOnce, 'seal'>): string {
  return `${JSON.stringify(['once', key, result !== null])}\n${result ?? ''}`
}

function lateText({ waiter, place }: Dependency): string {
  return `${JSON.stringify(['late', waiter, place])}\n`
}
