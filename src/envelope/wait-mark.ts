import { digest } from '../core/text/digest.ts'

/**
 * What a job's signature says about the jobs that it waits for: a digest of their ids and failure policies. If another job may
 * take the place of one of them when it is stored, it names only the policies. Older versions signed a digest of the ids, or only
 * that there are some (`true`).
 */
export type WaitMark = string | true

interface Awaited {
  readonly id: string
  readonly onFailure: string
}

/** Undefined if it waits for nothing. */
export function waitMark(awaited: readonly Awaited[], mayBeReplaced?: ReadonlySet<string>): WaitMark | undefined {
  if (awaited.length === 0) return undefined
  if (!awaited.some(({ id }) => mayBeReplaced?.has(id))) return digestOf(awaited.map(({ id, onFailure }) => [id, onFailure]))
  return anyOf + [...new Set(awaited.map(({ onFailure }) => onFailure))].sort().join()
}

/** Whether the mark was made for these jobs. */
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
