import { digest } from '../core/digest.ts'

/**
 * What the signature of a job says of the jobs that it waits for: a digest of their ids, or only that there are some, where another
 * job may come to stand for one of them when it is stored.
 */
export type WaitMark = string | true

interface Awaited {
  readonly id: string
}

/** Undefined where it waits for nothing. */
export function waitMark(awaited: readonly Awaited[], mayBeReplaced?: ReadonlySet<string>): WaitMark | undefined {
  if (awaited.length === 0) return undefined
  return awaited.some(({ id }) => mayBeReplaced?.has(id)) || digestOf(awaited)
}

/** Whether these are the jobs that it was made for. */
export function isWaitMark(mark: WaitMark, awaited: readonly Awaited[]): boolean {
  return mark === true ? awaited.length > 0 : mark === digestOf(awaited)
}

function digestOf(awaited: readonly Awaited[]): string {
  return digest(JSON.stringify(awaited.map(({ id }) => id).sort()))
}
