import { digest } from '../core/text/digest.ts'

/**
 * What the signature of a job says of the jobs that it waits for: a digest of their ids and of what becomes of it when each of them
 * fails. Where another job may come to stand for one of them when it is stored, it names those policies alone. Older versions signed
 * a digest of the ids, or only that there are some (`true`).
 */
export type WaitMark = string | true

interface Awaited {
  readonly id: string
  readonly onFailure: string
}

/** Undefined where it waits for nothing. */
export function waitMark(awaited: readonly Awaited[], mayBeReplaced?: ReadonlySet<string>): WaitMark | undefined {
  if (awaited.length === 0) return undefined
  if (!awaited.some(({ id }) => mayBeReplaced?.has(id))) return digestOf(awaited.map(({ id, onFailure }) => [id, onFailure]))
  return anyOf + [...new Set(awaited.map(({ onFailure }) => onFailure))].sort().join()
}

/** Whether these are the jobs that it was made for. */
export function isWaitMark(mark: WaitMark, awaited: readonly Awaited[]): boolean {
  if (mark === true) return awaited.length > 0
  if (mark.startsWith(anyOf)) {
    const policies = mark.slice(anyOf.length).split(',')
    return awaited.length > 0 && awaited.every(({ onFailure }) => policies.includes(onFailure))
  }
  return mark === digestOf(awaited.map(({ id, onFailure }) => [id, onFailure])) || mark === digestOf(awaited.map(({ id }) => id))
}

/** No digest begins like this. */
const anyOf = 'any:'

function digestOf(awaited: readonly (string | readonly string[])[]): string {
  return digest(JSON.stringify([...awaited].sort()))
}
