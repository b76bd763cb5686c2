import { formatDuration } from '../../../core/time/duration.ts'
import { parseEncrypted } from '../../../envelope/encryption.ts'
import type { FailurePolicy, WaitLink } from '../../../envelope/envelope.ts'
import type { FinalState } from '../../contract/job-state.ts'
import type { JobLink } from '../../contract/store.ts'

/** How a job that others wait for ended; `missing` if it never existed, or its end is no longer known. */
export interface End {
  readonly state: FinalState | 'missing'
  readonly result: string | null
  readonly seal: string | null
  readonly error: string | null
}

/** A skipped duplicate counts as a success if it has the result of the run that it would have repeated. */
export function isSuccess({ state, result }: Pick<End, 'state' | 'result'>): boolean {
  return state === 'succeeded' || (state === 'skipped' && result !== null)
}

/**
 * The end of a job that no other job waited for until now. If it was not signed for that reason, the new dependent's seal vouches
 * for it.
 */
export function lateEnd(end: End, late: string | null): End {
  const isVouchedFor = end.state === 'succeeded' && end.result === null && end.seal === null
  return isVouchedFor ? { ...end, seal: late } : end
}

/** What an end means for a job that waited for it: one less to wait for, its own failure or skip, or its release. */
export type Verdict = 'counts' | 'fails' | 'skips' | 'releases'

export function verdictOf(policy: FailurePolicy, end: Pick<End, 'state' | 'result'>): Verdict {
  return isSuccess(end) ? 'counts' : onFailure[policy]
}

export function isFailurePolicy(value: unknown): value is FailurePolicy {
  return typeof value === 'string' && Object.hasOwn(onFailure, value)
}

const onFailure = {
  fail: 'fails',
  skip: 'skips',
  ignore: 'counts',
  continue: 'releases',
  rescue: 'counts',
} as const satisfies Record<FailurePolicy, Verdict>

/** One link per job: the first one counts. */
export function distinctWaits(waitsFor: readonly WaitLink[]): readonly WaitLink[] {
  const byId = new Map<string, WaitLink>()
  for (const link of waitsFor) if (!byId.has(link.id)) byId.set(link.id, link)
  return [...byId.values()]
}

/** Why a rescue job is skipped: there was nothing to rescue. */
export const nothingToRescue = 'none of the jobs that it waited for has failed'

type Named = Pick<JobLink, 'id' | 'job'>

/** Why a job ended because of one that it waited for. */
export function failureText({ id, job, state, error, key }: Named & Pick<JobLink, 'key'> & Omit<End, 'result' | 'seal'>): string {
  const what = key === null ? 'waited for' : 'created'
  if (state === 'missing') return `The job ${id} that it ${what} does not exist`
  const named = `The job ${nameOf({ id, job })} that it ${what} is ${state}`
  if (error === null) return named
  // Nobody could decrypt it here: it is bound to the other job, and might be clipped.
  return parseEncrypted(error) === undefined ? `${named}: ${clipped(error)}` : `${named}, and its error is encrypted`
}

/** Whether a text may be one of `failureText` or `impatienceText`, which name other jobs. */
export function isAboutOthers(text: string): boolean {
  return /^(?:The job .* that it (?:waited for|created) |It waited for longer than )/s.test(text)
}

/** Whether the middle of a `failureText` may have been left out, which may have cut an id in half. */
export function isClipped(text: string): boolean {
  return text.includes(clip)
}

const mostKept = 500
const clip = ' … '

/**
 * Keeps both ends of a long text: in a chain of failures the last one quotes all before it, and the first cause is at the end.
 */
function clipped(text: string): string {
  if (text.length <= 2 * mostKept) return text
  // Avoid splitting a surrogate pair: no engine would store half a character.
  const [start, end] = [
    text.slice(0, mostKept).replace(/[\uD800-\uDBFF]$/, ''),
    text.slice(-mostKept).replace(/^[\uDC00-\uDFFF]/, ''),
  ]
  return `${start}${clip}${end}`
}

const mostNamed = 5

/** Why a job ended after waiting too long. `awaited` holds the first of `count` jobs. */
export function impatienceText(awaited: readonly Named[], count: number, longestWaitMs: number): string {
  const named = awaited.slice(0, mostNamed).map(nameOf).join(', ')
  const rest = count > mostNamed ? ` and ${count - mostNamed} more` : ''
  return `It waited for longer than ${formatDuration(longestWaitMs)} for ${named}${rest}`
}

function nameOf({ id, job }: Named): string {
  return job === null ? id : `"${job}" (${id})`
}
