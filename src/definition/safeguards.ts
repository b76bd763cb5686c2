import { type Duration, parseDuration } from '../core/duration.ts'
import type { DefinitionFields } from './definition.ts'
import { keyProblem, refuse } from './names.ts'
import { Recurrence } from './recurrence.ts'

/** A text, or one made of the payload; null is no key. */
export type Key<Payload> = string | ((payload: Payload) => string | null)

/** The words for what a run may take, and what it may not do twice or beside another one. */
export abstract class Safeguards<Payload> extends Recurrence {
  protected abstract fields: DefinitionFields

  /** After so much time `ctx.signal` is aborted and the attempt has failed; null is no limit. */
  timeout(timeout: Duration | null): this {
    return this.set({ timeoutMs: timeout === null ? null : parseDuration(timeout, 'timeout') })
  }

  /** As `timeout`, but a run that does not end then keeps its slot, so that no other one overlaps it; 0 or null is no limit. */
  maxRunningTime(time: Duration | null): this {
    const maxRunningTimeMs = time === null ? null : parseDuration(time, 'maxRunningTime')
    return this.set({ maxRunningTimeMs: maxRunningTimeMs === 0 ? null : maxRunningTimeMs })
  }

  /** At most so many at once, over all workers; 0 is unlimited. Jobs over the limit wait and burn no attempt. */
  concurrency(limit: number): this {
    return this.set({ concurrency: limit === 0 ? null : limit })
  }

  singleInstance(single = true): this {
    if (!single && this.fields.concurrency !== 1) return this
    return this.set({ concurrency: single ? 1 : null })
  }

  /** While a job with the same key waits or runs, another one is not stored. */
  unique(key: Key<Payload>): this {
    return this.set({ unique: this.#keyOf(key, 'unique') })
  }

  /** Once a job with this key has succeeded, another one is skipped instead of run, for the time of `idempotencyTtl`. */
  idempotencyKey(key: Key<Payload>): this {
    return this.set({ idempotencyKey: this.#keyOf(key, 'idempotencyKey') })
  }

  idempotencyTtl(ttl: Duration): this {
    return this.set({ idempotencyTtlMs: parseDuration(ttl, 'idempotencyTtl') })
  }

  protected set(changes: Partial<DefinitionFields>): this {
    this.beforeChange()
    this.fields = { ...this.fields, ...changes }
    return this
  }

  #keyOf(key: Key<Payload>, what: string): (payload: Payload) => string | null {
    if (typeof key === 'function') return key
    refuse(`Job "${this.job}"`, [keyProblem(key, what)])
    return () => key
  }
}
