import { unknownOptions } from '../../core/options.ts'
import { shown } from '../../core/text/shown.ts'
import { type Duration, parseDuration } from '../../core/time/duration.ts'
import { keyProblem, refuse } from '../names.ts'

/** A fixed key, or a function that computes it from the payload; null means no key. */
export type Key<Payload> = string | ((payload: Payload) => string | null)

/** Computes the key for a payload; null means no key. */
export type KeyOf = (payload: never) => string | null

/** What a dispatch does if the key is already held: nothing, replace the payload of the waiting job, or merge into it. */
export type OnConflict = (typeof onConflicts)[number]

export const onConflicts = ['ignore', 'replace', 'merge'] as const

/** Options of `unique`: how long the key is held, and what a second dispatch does. */
export interface UniqueOptions {
  /**
   * How long the key is held: until a worker first claims the job, until the job has ended (the default), forever, or for this
   * long after the dispatch.
   */
  readonly until?: 'started' | 'ended' | 'ever' | Duration
  readonly onConflict?: OnConflict
}

/** Options of `debounce`: the key and the maximum wait. */
export interface DebounceOptions<KeyText> {
  /** Defaults to one key for the whole job. */
  readonly key?: KeyText
  /** Maximum delay after the first dispatch. */
  readonly maxWait?: Duration
}

/** Options of `throttle`: the key. */
export interface ThrottleOptions<KeyText> {
  /** Defaults to one key for the whole job. */
  readonly key?: KeyText
}

/** How duplicate jobs are prevented. */
export interface Uniqueness {
  /** The builder method that set it. */
  readonly word: 'unique' | 'debounce' | 'throttle'
  readonly key: KeyOf
  /** A number is in milliseconds from the dispatch. */
  readonly until: 'started' | 'ended' | 'ever' | number
  readonly onConflict: OnConflict
  readonly debounce: Debounce | null
}

export interface Debounce {
  readonly quietMs: number
  readonly maxWaitMs: number | null
}

export function unique(key: KeyOf, { until = 'ended', onConflict = 'ignore' }: UniqueOptions = {}): Uniqueness {
  const isWord = until === 'started' || until === 'ended' || until === 'ever'
  return { word: 'unique', key, until: isWord ? until : parseDuration(until, untilText), onConflict, debounce: null }
}

const untilText = "until is 'started', 'ended' or 'ever', or it"

/** One job waits per key; each dispatch postpones it and replaces its payload. */
export function debounce(time: Duration, key: KeyOf, maxWait: Duration | undefined): Uniqueness {
  const quietMs = parseDuration(time, 'debounce')
  const maxWaitMs = maxWait === undefined ? null : parseDuration(maxWait, 'maxWait')
  return { word: 'debounce', key, until: 'started', onConflict: 'replace', debounce: { quietMs, maxWaitMs } }
}

/** Only the first dispatch of each period is stored. */
export function throttle(time: Duration, key: KeyOf): Uniqueness {
  return { word: 'throttle', key, until: parseDuration(time, 'throttle'), onConflict: 'ignore', debounce: null }
}

/** Turns a fixed key into a function. */
export function keyMaker(key: Key<never>, what: string, subject: string): KeyOf {
  if (typeof key === 'function') return key
  refuse(subject, [keyProblem(key, what)])
  return () => key
}

/** The key for all payloads if none was given. It cannot clash with the keys of other definitions. */
export function keyOfAll(word: Uniqueness['word']): KeyOf {
  return () => word
}

export function uniquenessProblems({ word, until, onConflict, debounce }: Uniqueness): readonly (string | undefined)[] {
  return [
    onConflicts.includes(onConflict) ? undefined : `onConflict must be ignore, replace or merge, got ${shown(onConflict)}`,
    until === 0 ? `${word === 'unique' ? 'until' : word} must be more than 0 ms` : undefined,
    debounce?.quietMs === 0 ? 'debounce must be more than 0 ms' : undefined,
    debounce !== null && debounce.maxWaitMs !== null && debounce.maxWaitMs < debounce.quietMs
      ? `maxWait must be at least as long as the ${debounce.quietMs} ms of debounce, got ${debounce.maxWaitMs}`
      : undefined,
  ]
}

/** Why the two methods cannot be combined on one job; undefined if they can. */
export function wordsProblem(one: Uniqueness['word'], other: Uniqueness['word']): string | undefined {
  if (one === other) return undefined
  return `${one} and ${other} exclude each other, because both decide about a second job with the same key: give one of them`
}

/** Uniqueness options of a single dispatch. */
export interface UniqueDispatchOptions {
  /**
   * The key, or the key with options; options that are left out come from the definition. Null means no key, even if the
   * definition has one.
   */
  readonly unique?: string | null | (UniqueOptions & { readonly key: string })
  /** Runs once this much time has passed without another dispatch with the same key. */
  readonly debounce?: Duration | (DebounceOptions<string> & { readonly time: Duration })
  /** Not stored if another job with the same key was stored less than this long ago. */
  readonly throttle?: Duration | (ThrottleOptions<string> & { readonly time: Duration })
}

export interface DispatchedUniqueness {
  /** The setting of the dispatch, or else of the definition. */
  readonly uniqueness: Uniqueness | null
  readonly problems: readonly (string | undefined)[]
}

/** Options of the dispatch override the definition. */
export function dispatchedUniqueness(options: UniqueDispatchOptions, defined: Uniqueness | null): DispatchedUniqueness {
  const said = (['unique', 'debounce', 'throttle'] as const).filter((word) => options[word] !== undefined)
  const [word, other] = said
  if (word === undefined) return { uniqueness: defined, problems: [] }
  const contradiction = other === undefined ? undefined : wordsProblem(word, other)
  if (options.unique === null) return { uniqueness: null, problems: [contradiction] }
  const given = options[word] as Given
  const { key, ...rest } =
    typeof given === 'object' && given !== null ? given : word === 'unique' ? { key: given } : { time: given }
  const needsKey = word === 'unique' || key !== undefined
  const problems = [
    ...unknownOptions(rest, optionNames[word]),
    needsKey ? keyProblem(key, word === 'unique' ? word : `the key of ${word}`) : undefined,
    contradiction,
  ]
  const uniqueness = madeOf(word, key === undefined ? keyOfAll(word) : () => key as string, rest, defined)
  return { uniqueness, problems: [...problems, ...uniquenessProblems(uniqueness)] }
}

type Given = string | number | ({ readonly key?: unknown } & Parts)
type Parts = UniqueOptions & { readonly time?: Duration; readonly maxWait?: Duration }

const optionNames = { unique: ['until', 'onConflict'], debounce: ['time', 'maxWait'], throttle: ['time'] } as const

function madeOf(word: Uniqueness['word'], key: KeyOf, parts: Parts, defined: Uniqueness | null): Uniqueness {
  switch (word) {
    case 'unique':
      return defined?.word === 'unique' ? { ...defined, ...said(unique(key, parts), parts) } : unique(key, parts)
    case 'debounce':
      return debounce(parts.time as Duration, key, parts.maxWait)
    case 'throttle':
      return throttle(parts.time as Duration, key)
  }
}

function said({ key, until, onConflict }: Uniqueness, parts: UniqueOptions): Partial<Uniqueness> {
  return { key, ...(parts.until !== undefined && { until }), ...(parts.onConflict !== undefined && { onConflict }) }
}
