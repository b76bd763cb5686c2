import { fitsPattern } from '../../core/text/name-pattern.ts'
import { shown } from '../../core/text/shown.ts'

/** The jobs that a key may sign. Each list holds names or patterns with `*`; an absent list allows all. */
export interface KeyScope {
  readonly queues?: readonly string[]
  readonly jobs?: readonly string[]
}

/** What a scope is checked against. It comes from the signed text. */
export interface ScopedJob {
  readonly queue: string
  readonly job: string
}

export function isLimited({ queues, jobs }: KeyScope): boolean {
  return queues !== undefined || jobs !== undefined
}

export function covers({ queues, jobs }: KeyScope, { queue, job }: ScopedJob): boolean {
  return fitsAny(queues, queue) && fitsAny(jobs, job)
}

function fitsAny(patterns: readonly string[] | undefined, name: string): boolean {
  return patterns === undefined || patterns.some((pattern) => fitsPattern(pattern, name))
}

/** `queues mail,reports and jobs mail-*`, for display. */
export function scopeText({ queues, jobs }: KeyScope): string {
  const parts = [
    ...(queues === undefined ? [] : [`${queues.length === 1 ? 'queue' : 'queues'} ${queues.join(',')}`]),
    ...(jobs === undefined ? [] : [`jobs ${jobs.join(',')}`]),
  ]
  return parts.join(' and ')
}

/** What is wrong with a scope; undefined if nothing is. Names that a key file could not hold are refused everywhere. */
export function scopeProblem(scope: { readonly queues?: unknown; readonly jobs?: unknown }): string | undefined {
  for (const part of ['queues', 'jobs'] as const) {
    const names = scope[part]
    if (names === undefined) continue
    if (!Array.isArray(names) || names.length === 0) return `${part} must be a list of at least one name or pattern`
    const wrong = names.find((name) => typeof name !== 'string' || !/^[^\s,\p{Cc}]+$/u.test(name))
    if (wrong !== undefined) return `${part} must be names or patterns without spaces and commas, got ${shown(wrong)}`
  }
  return undefined
}
