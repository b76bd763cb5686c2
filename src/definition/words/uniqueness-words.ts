import { unknownOptions } from '../../core/options.ts'
import { type Duration, parseDuration } from '../../core/time/duration.ts'
import { refuse } from '../names.ts'
import {
  type DebounceOptions,
  debounce,
  type Key,
  type KeyOf,
  keyMaker,
  keyOfAll,
  type ThrottleOptions,
  throttle,
  type Uniqueness,
  type UniqueOptions,
  unique,
  uniquenessProblems,
  wordsProblem,
} from '../policies/uniqueness.ts'
import { type SaidOfJob, subjectOf, type WordTable } from './word-table.ts'

/** Builder methods against duplicate jobs and duplicate work. */
export interface UniquenessWords<Payload> {
  /**
   * Stores only one job per key for as long as the key is held: by default while the job waits or runs. A duplicate is ignored,
   * or can replace the waiting job's payload or be merged into it.
   */
  unique(key: Key<Payload>, options?: UniqueOptions): this
  /**
   * Runs once, after this much time without another dispatch, with the payload of the last one. With `maxWait` it never waits
   * longer than that, however often it is dispatched.
   */
  debounce(time: Duration, options?: DebounceOptions<Key<Payload>>): this
  /** Stores only the first of the dispatches within this period. */
  throttle(time: Duration, options?: ThrottleOptions<Key<Payload>>): this
  /** Once a job with this key has succeeded, others are skipped instead of run, for as long as `idempotencyTtl`. */
  idempotencyKey(key: Key<Payload> | null): this
  idempotencyTtl(ttl: Duration): this
}

export const uniquenessWords = {
  unique: (said, key: Key<never>, options: UniqueOptions = {}) => {
    refuseUnknown(said, 'unique', options, ['until', 'onConflict'])
    return kept(said, unique(keyMaker(key, 'unique', subjectOf(said)), options))
  },
  debounce: (said, time: Duration, options: DebounceOptions<Key<never>> = {}) => {
    refuseUnknown(said, 'debounce', options, ['key', 'maxWait'])
    return kept(said, debounce(time, keyOr(said, options.key, 'debounce'), options.maxWait))
  },
  throttle: (said, time: Duration, options: ThrottleOptions<Key<never>> = {}) => {
    refuseUnknown(said, 'throttle', options, ['key'])
    return kept(said, throttle(time, keyOr(said, options.key, 'throttle')))
  },
  idempotencyKey: (said, key: Key<never> | null) => ({
    idempotencyKey: key === null ? null : keyMaker(key, 'idempotencyKey', subjectOf(said)),
  }),
  idempotencyTtl: (_, ttl: Duration) => ({ idempotencyTtlMs: parseDuration(ttl, 'idempotencyTtl') }),
} as const satisfies WordTable<UniquenessWords<never>>

function kept(said: SaidOfJob, uniqueness: Uniqueness) {
  const earlier = said.unique ?? null
  const problem = earlier === null ? undefined : wordsProblem(earlier.word, uniqueness.word)
  refuse(subjectOf(said), [problem, ...uniquenessProblems(uniqueness)])
  return { unique: uniqueness }
}

function refuseUnknown(said: SaidOfJob, word: string, options: object, known: readonly string[]): void {
  refuse(`${subjectOf(said)}: ${word}`, unknownOptions(options, known))
}

function keyOr(said: SaidOfJob, key: Key<never> | undefined, word: Uniqueness['word']): KeyOf {
  return key === undefined ? keyOfAll(word) : keyMaker(key, `the key of ${word}`, subjectOf(said))
}
