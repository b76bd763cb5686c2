import { Heap, type Slotted } from '../../../core/heap.ts'
import type { Envelope } from '../../../envelope/envelope.ts'
import { isFinal } from '../../contract/job-state.ts'
import type { StoredJob } from '../jobs/job.ts'

/** Which job holds which unique key: through its state, for a period, or forever. */
export class UniqueKeys {
  readonly #living: Map<string, StoredJob>
  readonly #lasting: Map<string, LastingKey>
  readonly #byExpiry = new Heap<LastingKey>((a, b) => a.expiresAt < b.expiresAt)

  constructor(living = new Map<string, StoredJob>(), lasting = new Map<string, LastingKey>()) {
    this.#living = living
    this.#lasting = lasting
  }

  /** The id of the job that holds this key, if any. That job may have been deleted. */
  holderOf(index: string | null, now: number): string | undefined {
    if (index === null) return undefined
    const lasting = this.#lasting.get(index)
    return lasting !== undefined && lasting.expiresAt > now ? lasting.jobId : this.#living.get(index)?.envelope.id
  }

  /** To be called after the job has entered a state. */
  follow(job: StoredJob): void {
    if (job.keyIndex !== null && holdsByState(job)) this.#living.set(job.keyIndex, job)
  }

  /** To be called before the job leaves its state. */
  leave(job: StoredJob): void {
    if (job.keyIndex === null || !holdsByState(job)) return
    if (this.#living.get(job.keyIndex) === job) this.#living.delete(job.keyIndex)
  }

  /** For a job that is stored or put back. */
  take({ envelope, keyIndex: index }: StoredJob, now: number): void {
    const expiresAt = lastsUntil(envelope)
    if (index === null || expiresAt === null || expiresAt <= now) return
    this.hold({ index, jobId: envelope.id, expiresAt })
  }

  /** Replaces the previous holder. */
  hold(held: HeldKey): void {
    this.#forget(this.#lasting.get(held.index))
    const key = { ...held, slot: -1 }
    this.#lasting.set(held.index, key)
    this.#byExpiry.add(key)
  }

  /** Keys that are held for a period or forever. */
  get lasting(): readonly HeldKey[] {
    return [...this.#lasting.values()]
  }

  lastingOf(index: string | null): HeldKey | undefined {
    return index === null ? undefined : this.#lasting.get(index)
  }

  free({ index, jobId }: Pick<HeldKey, 'index' | 'jobId'>): void {
    const key = this.#lasting.get(index)
    if (key?.jobId === jobId) this.#forget(key)
  }

  /** Frees the key of a job that ended without ever being claimed, as if it had never been sent. */
  freeUnclaimed({ envelope, keyIndex, startedAt }: StoredJob): void {
    if (keyIndex === null || startedAt !== null || lastsUntil(envelope) === null) return
    const key = this.#lasting.get(keyIndex)
    if (key?.jobId === envelope.id) this.#forget(key)
  }

  sweep(limit: number, now: number): number {
    let swept = 0
    for (let key = this.#byExpiry.peek(); key !== undefined && key.expiresAt <= now; key = this.#byExpiry.peek()) {
      if (swept >= limit) break
      this.#forget(key)
      swept++
    }
    return swept
  }

  #forget(key: LastingKey | undefined): void {
    if (key === undefined) return
    if (key.slot >= 0) this.#byExpiry.remove(key)
    this.#lasting.delete(key.index)
  }
}

/** A key that its job holds until a fixed time, whatever happens to the job. */
export interface HeldKey {
  readonly index: string
  readonly jobId: string
  readonly expiresAt: number
}

export type LastingKey = HeldKey & Slotted

/** Whether a job holds its unique key through its state. */
export function holdsByState({ envelope, state, startedAt }: Pick<StoredJob, 'envelope' | 'state' | 'startedAt'>): boolean {
  if (isFinal(state)) return false
  return envelope.uniqueUntil === 'ended' || (envelope.uniqueUntil === 'started' && startedAt === null)
}

/** Null if the state of the job decides. */
function lastsUntil({ uniqueUntil }: Envelope): number | null {
  if (uniqueUntil === 'ever') return Number.POSITIVE_INFINITY
  return typeof uniqueUntil === 'number' ? uniqueUntil : null
}
