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

/** What must not be there, or be done, twice. */
export interface UniquenessWords<Payload> {
  /**
   * While the key is held, another job with the same key is not stored: by default as long as the job waits or runs. Instead of
   * being left out, it may replace the job that waits, or its payload be merged into that one's.
   */
  unique(key: Key<Payload>, options?: UniqueOptions): this
  /**
   * Runs once, when so much time has passed without another dispatch, with the payload of the last one. With `maxWait` it does
   * not wait for longer than that, however often it is dispatched.
   */
  debounce(time: Duration, options?: DebounceOptions<Key<Payload>>): this
  /** Of the dispatches within so much time of the first, only that one is stored. */
  throttle(time: Duration, options?: ThrottleOptions<Key<Payload>>): this
  /** Once a job with this key has succeeded, another one is skipped instead of run, for the time of `idempotencyTtl`. */
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
