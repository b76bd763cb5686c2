import type { Envelope } from '../../envelope/envelope.ts'
import { Heap, type Slotted } from '../heap.ts'
import { isFinal } from '../job-state.ts'
import type { MemoryJob } from './job.ts'

/** Who holds which unique key: a job by its state, or a job that took it for a time or for ever. */
export class UniqueKeys {
  readonly #living = new Map<string, MemoryJob>()
  readonly #lasting = new Map<string, LastingKey>()
  readonly #byExpiry = new Heap<LastingKey>((a, b) => a.expiresAt < b.expiresAt)

  /** The id of the job that holds this key, if one does. It may be deleted by now. */
  holderOf(index: string | null, now: number): string | undefined {
    if (index === null) return undefined
    const lasting = this.#lasting.get(index)
    return lasting !== undefined && lasting.expiresAt > now ? lasting.jobId : this.#living.get(index)?.envelope.id
  }

  /** After the job came into a state. */
  follow(job: MemoryJob): void {
    if (job.keyIndex !== null && holdsByState(job)) this.#living.set(job.keyIndex, job)
  }

  /** Before the job leaves its state. */
  leave(job: MemoryJob): void {
    if (job.keyIndex !== null && this.#living.get(job.keyIndex) === job) this.#living.delete(job.keyIndex)
  }

  /** For a job that is stored or put back. */
  take({ envelope, keyIndex: index }: MemoryJob, now: number): void {
    const expiresAt = lastsUntil(envelope)
    if (index === null || expiresAt === null || expiresAt <= now) return
    this.#forget(this.#lasting.get(index))
    const key = { index, jobId: envelope.id, expiresAt, slot: -1 }
    this.#lasting.set(index, key)
    this.#byExpiry.add(key)
  }

  /** For a job that is over without ever having been claimed: it is as if it had never been sent. */
  freeUnclaimed({ envelope, keyIndex, startedAt }: MemoryJob): void {
    const key = this.#lasting.get(keyIndex ?? '')
    if (startedAt === null && key?.jobId === envelope.id) this.#forget(key)
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
    this.#byExpiry.remove(key)
    this.#lasting.delete(key.index)
  }
}

interface LastingKey extends Slotted {
  readonly index: string
  readonly jobId: string
  readonly expiresAt: number
}

function holdsByState({ envelope, state, startedAt }: MemoryJob): boolean {
  if (isFinal(state)) return false
  return envelope.uniqueUntil === 'ended' || (envelope.uniqueUntil === 'started' && startedAt === null)
}

/** Null where the state of the job decides. */
function lastsUntil({ uniqueUntil }: Envelope): number | null {
  if (uniqueUntil === 'ever') return Number.POSITIVE_INFINITY
  return typeof uniqueUntil === 'number' ? uniqueUntil : null
}
