import { type Duration, parseDuration } from '../core/duration.ts'
import { unknownOptions } from '../core/options.ts'
import { shown } from '../core/shown.ts'
import type { DefinitionFields } from './definition.ts'
import type { DeliveryMode } from './delivery.ts'
import { givenValues } from './given-values.ts'
import { type GroupOptions, grouping, groupOptionProblems } from './grouping.ts'
import { type IsolateKind, type IsolateOptions, isolationOf } from './isolation.ts'
import { keyProblem, refuse } from './names.ts'
import { rateOf } from './rate.ts'
import { Recurrence } from './recurrence.ts'
import {
  type DebounceOptions,
  debounce,
  type Key,
  type KeyOf,
  keyOfAll,
  type ThrottleOptions,
  throttle,
  type Uniqueness,
  type UniqueOptions,
  unique,
  uniquenessProblems,
  wordsProblem,
} from './uniqueness.ts'

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

  /** At most so many are started in any span of this time, over all workers. The rest wait and burn no attempt. */
  rate(limit: number, per: Duration): this {
    return this.set({ rate: rateOf({ limit, per }, 'rate') })
  }

  /**
   * Whose job it is (a customer's, say). Groups take turns: the one with the fewest running jobs comes first, among those the
   * one that was served longest ago. With limits, no group gets more than its own, and one that is at its limit holds back nobody.
   */
  group(key: Key<Payload>, options: GroupOptions = {}): this {
    refuse(`Job "${this.job}"`, groupOptionProblems(options))
    return this.set({ group: grouping(this.#keyOf(key, 'group'), options) })
  }

  singleInstance(single = true): this {
    if (!single && this.fields.concurrency !== 1) return this
    return this.set({ concurrency: single ? 1 : null })
  }

  /**
   * While the key is held, another job with the same key is not stored: by default as long as the job waits or runs. Instead of
   * being left out, it may replace the job that waits, or its payload be merged into that one's.
   */
  unique(key: Key<Payload>, options: UniqueOptions = {}): this {
    this.#refuseUnknown('unique', options, ['until', 'onConflict'])
    return this.#setUnique(unique(this.#keyOf(key, 'unique'), options))
  }

  /**
   * Runs once, when so much time has passed without another dispatch, with the payload of the last one. With `maxWait` it does
   * not wait for longer than that, however often it is dispatched.
   */
  debounce(time: Duration, options: DebounceOptions<Key<Payload>> = {}): this {
    this.#refuseUnknown('debounce', options, ['key', 'maxWait'])
    return this.#setUnique(debounce(time, this.#keyOr(options.key, 'debounce'), options.maxWait))
  }

  /** Of the dispatches within so much time of the first, only that one is stored. */
  throttle(time: Duration, options: ThrottleOptions<Key<Payload>> = {}): this {
    this.#refuseUnknown('throttle', options, ['key'])
    return this.#setUnique(throttle(time, this.#keyOr(options.key, 'throttle')))
  }

  /** Once a job with this key has succeeded, another one is skipped instead of run, for the time of `idempotencyTtl`. */
  idempotencyKey(key: Key<Payload>): this {
    return this.set({ idempotencyKey: this.#keyOf(key, 'idempotencyKey') })
  }

  idempotencyTtl(ttl: Duration): this {
    return this.set({ idempotencyTtlMs: parseDuration(ttl, 'idempotencyTtl') })
  }

  /** Stores payloads encrypted (AES-256-GCM, with the signing key), so that only workers can read them. */
  encrypt(encrypt = true): this {
    refuse(`Job "${this.job}"`, [
      typeof encrypt === 'boolean' ? undefined : `encrypt must be true or false, got ${shown(encrypt)}`,
    ])
    return this.set({ encrypt })
  }

  /**
   * Runs the handler in a worker thread or a process of its own, where it is really killed at its deadline, on cancel and at the
   * end of a shutdown, also when it never lets go of the event loop.
   */
  isolate(kind: IsolateKind, options: IsolateOptions = {}): this {
    return this.set({ isolation: isolationOf(this.job, kind, options) })
  }

  /**
   * What is promised when a worker dies with the job: it is run again (`at-least-once`, the default), it is never begun twice
   * (`at-most-once`), or it is run again and only one run's writes are there (`effectively-once`, by `ctx.transaction`).
   */
  delivery(delivery: DeliveryMode): this {
    return this.set({ delivery })
  }

  protected set(changes: Partial<DefinitionFields>): this {
    this.beforeChange()
    this.fields = { ...this.fields, ...givenValues(changes) }
    return this
  }

  #setUnique(uniqueness: Uniqueness): this {
    const earlier = this.fields.unique
    const problem = earlier === null ? undefined : wordsProblem(earlier.word, uniqueness.word)
    refuse(`Job "${this.job}"`, [problem, ...uniquenessProblems(uniqueness)])
    return this.set({ unique: uniqueness })
  }

  #refuseUnknown(word: string, options: object, known: readonly string[]): void {
    refuse(`Job "${this.job}": ${word}`, unknownOptions(options, known))
  }

  #keyOr(key: Key<Payload> | undefined, word: Uniqueness['word']): KeyOf {
    return key === undefined ? keyOfAll(word) : this.#keyOf(key, `the key of ${word}`)
  }

  #keyOf(key: Key<Payload>, what: string): (payload: Payload) => string | null {
    if (typeof key === 'function') return key
    refuse(`Job "${this.job}"`, [keyProblem(key, what)])
    return () => key
  }
}
