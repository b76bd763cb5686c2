import { Heap, type Slotted } from '../../../core/heap.ts'
import { digest } from '../../../core/text/digest.ts'
import type { OnceClaim, OnceMark } from '../../contract/contract.ts'
import type { StoredJob } from '../jobs/job.ts'

/** Where idempotency keys are looked up. */
export interface OnceKeysState {
  /** The jobs that hold keys while they run. */
  readonly holders: Map<string, StoredJob>
  readonly keysOf: Map<StoredJob, readonly string[]>
  readonly marks: Map<string, KeptOnce>
}

/**
 * Idempotency keys in two phases: claimed by a running job, then kept once a run with the key has finished. They are stored as
 * digests.
 */
export class OnceKeys {
  readonly #holders: Map<string, StoredJob>
  readonly #keysOf: Map<StoredJob, readonly string[]>
  readonly #marks: Map<string, KeptOnce>
  readonly #marksByExpiry = new Heap<KeptOnce>((a, b) => a.expiresAt < b.expiresAt)

  constructor(state: Partial<OnceKeysState> = {}) {
    this.#holders = state.holders ?? new Map()
    this.#keysOf = state.keysOf ?? new Map()
    this.#marks = state.marks ?? new Map()
  }

  claim(name: string, job: StoredJob | undefined, now: number): OnceClaim {
    const key = digest(name)
    const mark = this.#marks.get(key)
    const holder = this.#holders.get(key)
    const answer = onceAnswer(mark, holder !== undefined && holder !== job, now)
    if (answer.kind !== 'claimed') return answer
    // A job that is not running holds nothing: its claim would end at once.
    if (job?.state !== 'running') return { kind: 'claimed' }
    if (mark !== undefined) this.#forget(mark)
    if (holder === undefined) this.hold(key, job)
    return { kind: 'claimed' }
  }

  /** Called whenever a lease of the job ends, however it ends. */
  release(job: StoredJob): void {
    for (const key of this.#keysOf.get(job) ?? []) this.#holders.delete(key)
    this.#keysOf.delete(job)
  }

  keep({ key, keepMs, seal = null, ...mark }: OnceMark, jobResult: string | null, now: number): void {
    const result = mark.result === undefined ? jobResult : mark.result
    this.remember({ key: digest(key), result, seal, expiresAt: now + keepMs })
  }

  remember(kept: KeptKey): void {
    const earlier = this.#marks.get(kept.key)
    if (earlier !== undefined && earlier.slot >= 0) this.#marksByExpiry.remove(earlier)
    const mark = { ...kept, slot: -1 }
    this.#marks.set(kept.key, mark)
    this.#marksByExpiry.add(mark)
  }

  get kept(): readonly KeptKey[] {
    return [...this.#marks.values()]
  }

  keptUntil(key: string): number | undefined {
    return this.#marks.get(key)?.expiresAt
  }

  isHeld(key: string): boolean {
    return this.#holders.has(key)
  }

  heldBy(job: StoredJob): readonly string[] {
    return this.#keysOf.get(job) ?? []
  }

  /** Also used for a job that arrives with the keys it holds. */
  hold(key: string, job: StoredJob): void {
    this.#holders.set(key, job)
    this.#keysOf.set(job, [...this.heldBy(job), key])
  }

  /** Deletes expired keys. */
  sweep(limit: number, now: number): number {
    let swept = 0
    for (let mark = this.#marksByExpiry.peek(); mark !== undefined && mark.expiresAt <= now; mark = this.#marksByExpiry.peek()) {
      if (swept >= limit) break
      this.#forget(mark)
      swept++
    }
    return swept
  }

  #forget(mark: KeptOnce): void {
    if (mark.slot >= 0) this.#marksByExpiry.remove(mark)
    this.#marks.delete(mark.key)
  }
}

/** The answer to a claim of a key: a run with this key has finished, another one is in progress, or this one may begin. */
export function onceAnswer(kept: KeptKey | undefined, isHeldByOther: boolean, now: number): OnceClaim {
  if (kept !== undefined && kept.expiresAt > now) return { kind: 'done', result: kept.result, seal: kept.seal }
  return { kind: isHeldByOther ? 'busy' : 'claimed' }
}

/** A key under which a run has finished. */
export type KeptOnce = KeptKey & Slotted

export interface KeptKey {
  readonly key: string
  readonly result: string | null
  readonly seal: string | null
  readonly expiresAt: number
}
