import { unknownOptions } from '../../core/options.ts'
import { type Duration, parseDuration } from '../../core/time/duration.ts'
import { keyProblem, refuse } from '../names.ts'

/** A text, or one made of the payload; null is no key. */
export type Key<Payload> = string | ((payload: Payload) => string | null)

/** A key for this payload, or null for none. */
export type KeyOf = (payload: never) => string | null

/** What happens when the key is held already: nothing, or the waiting holder is given the new payload or its members. */
export type OnConflict = (typeof onConflicts)[number]

export const onConflicts = ['ignore', 'replace', 'merge'] as const

/** Options of `unique`: how long the key is held, and what a second dispatch does. */
export interface UniqueOptions {
  /** Until a worker first has the job, until it has ended (the default), forever, or for so long after the dispatch. */
  readonly until?: 'started' | 'ended' | 'ever' | Duration
  readonly onConflict?: OnConflict
}

/** Options of `debounce`: the key, and the longest wait. */
export interface DebounceOptions<KeyText> {
  /** One for the whole job by default. */
  readonly key?: KeyText
  /** Never moved further than this from the first dispatch. */
  readonly maxWait?: Duration
}

/** Options of `throttle`: the key. */
export interface ThrottleOptions<KeyText> {
  /** One for the whole job by default. */
  readonly key?: KeyText
}

/** How a job is kept from being there twice. */
export interface Uniqueness {
  /** The word that said it. */
  readonly word: 'unique' | 'debounce' | 'throttle'
  readonly key: KeyOf
  /** A number is the milliseconds from the dispatch. */
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

/** One job waits for each key; each dispatch moves it and gives it another payload. */
export function debounce(time: Duration, key: KeyOf, maxWait: Duration | undefined): Uniqueness {
  const quietMs = parseDuration(time, 'debounce')
  const maxWaitMs = maxWait === undefined ? null : parseDuration(maxWait, 'maxWait')
  return { word: 'debounce', key, until: 'started', onConflict: 'replace', debounce: { quietMs, maxWaitMs } }
}

/** The first of each period is stored, and no other one. */
export function throttle(time: Duration, key: KeyOf): Uniqueness {
  return { word: 'throttle', key, until: parseDuration(time, 'throttle'), onConflict: 'ignore', debounce: null }
}

/** What makes the key of a payload where a text is the same for all of them. */
export function keyMaker(key: Key<never>, what: string, subject: string): KeyOf {
  if (typeof key === 'function') return key
  refuse(subject, [keyProblem(key, what)])
  return () => key
}

/** The key of all payloads where none is said: with jobs of other definitions it does not meet. */
export function keyOfAll(word: Uniqueness['word']): KeyOf {
  return () => word
}

export function uniquenessProblems({ word, until, onConflict, debounce }: Uniqueness): readonly (string | undefined)[] {
  return [
    onConflicts.includes(onConflict)
      ? undefined
      : `onConflict must be ignore, replace or merge, got ${JSON.stringify(onConflict)}`,
    until === 0 ? `${word === 'unique' ? 'until' : word} must be more than 0 ms` : undefined,
    debounce?.quietMs === 0 ? 'debounce must be more than 0 ms' : undefined,
    debounce !== null && debounce.maxWaitMs !== null && debounce.maxWaitMs < debounce.quietMs
      ? `maxWait must be at least as long as the ${debounce.quietMs} ms of debounce, got ${debounce.maxWaitMs}`
      : undefined,
  ]
}

/** Why the two cannot be said of one job. */
export function wordsProblem(one: Uniqueness['word'], other: Uniqueness['word']): string | undefined {
  if (one === other) return undefined
  return `${one} and ${other} are two answers to one question, what becomes of a second job with the same key: give one of them`
}

/** What a dispatch may say of it. */
export interface UniqueDispatchOptions {
  /** The key, or the key and how it is held; what is left out is as the definition says. Null is no key, whatever that says. */
  readonly unique?: string | null | (UniqueOptions & { readonly key: string })
  /** Runs when so much time has passed without another dispatch with the key. */
  readonly debounce?: Duration | (DebounceOptions<string> & { readonly time: Duration })
  /** Is not stored when another one with the key was, so short a time ago. */
  readonly throttle?: Duration | (ThrottleOptions<string> & { readonly time: Duration })
}

export interface DispatchedUniqueness {
  /** What the dispatch says, or else the definition. */
  readonly uniqueness: Uniqueness | null
  readonly problems: readonly (string | undefined)[]
}

/** What a dispatch says goes before what its definition says. */
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
