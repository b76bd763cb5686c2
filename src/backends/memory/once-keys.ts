import type { OnceClaim, OnceMark } from '../contract.ts'
import { Heap, type Slotted } from '../heap.ts'
import type { MemoryJob } from './job.ts'

/** Idempotency keys in two phases: claimed by a running job, and kept once a run with the key has finished. */
export class OnceKeys {
  readonly #holders = new Map<string, MemoryJob>()
  readonly #keysOf = new Map<MemoryJob, string[]>()
  readonly #marks = new Map<string, Mark>()
  readonly #marksByExpiry = new Heap<Mark>((a, b) => a.expiresAt < b.expiresAt)

  claim(key: string, job: MemoryJob | undefined, now: number): OnceClaim {
    const mark = this.#marks.get(key)
    if (mark !== undefined && mark.expiresAt > now) return { kind: 'done', result: mark.result, seal: mark.seal }
    const holder = this.#holders.get(key)
    if (holder !== undefined && holder !== job) return { kind: 'busy' }
    // A job that does not run holds nothing: its claim would end at once.
    if (holder === undefined && job?.state === 'running') this.#hold(key, job)
    return { kind: 'claimed' }
  }

  /** Called whenever a lease of the job ends, however it ends. */
  release(job: MemoryJob): void {
    for (const key of this.#keysOf.get(job) ?? []) this.#holders.delete(key)
    this.#keysOf.delete(job)
  }

  keep({ key, keepMs, seal = null, ...mark }: OnceMark, jobResult: string | null, now: number): void {
    const earlier = this.#marks.get(key)
    if (earlier !== undefined) this.#marksByExpiry.remove(earlier)
    const result = mark.result === undefined ? jobResult : mark.result
    const kept = { key, result, seal, expiresAt: now + keepMs, slot: -1 }
    this.#marks.set(key, kept)
    this.#marksByExpiry.add(kept)
  }

  /** Forgets keys whose time is over. */
  sweep(limit: number, now: number): number {
    let swept = 0
    for (let mark = this.#marksByExpiry.peek(); mark !== undefined && mark.expiresAt <= now; mark = this.#marksByExpiry.peek()) {
      if (swept >= limit) break
      this.#marksByExpiry.remove(mark)
      this.#marks.delete(mark.key)
      swept++
    }
    return swept
  }

  #hold(key: string, job: MemoryJob): void {
    this.#holders.set(key, job)
    this.#keysOf.set(job, [...(this.#keysOf.get(job) ?? []), key])
  }
}

interface Mark extends Slotted {
  readonly key: string
  readonly result: string | null
  readonly seal: string | null
  readonly expiresAt: number
}
