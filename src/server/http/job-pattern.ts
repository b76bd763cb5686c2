import type { KeyPattern } from '../../queue/rules/claiming/key-pattern.ts'
import { mockMark } from '../bedrock/jobs/mock-jobs.ts'

/** A choice of jobs by names, some of which may be patterns. */
export interface JobChoice {
  /** Equal choices have the same text. */
  readonly pattern: string
  /** Null if there are patterns among them. */
  readonly names: readonly string[] | null
  readonly keys: KeyPattern
}

/** No pattern matches mock jobs of the Bedrock protocol: a worker that takes all jobs would run them for real. */
export function jobChoice(given: readonly string[]): JobChoice {
  const sorted = [...new Set(given)].toSorted()
  const names = sorted.filter((name) => !wildcard.test(name))
  const globs = sorted.filter((name) => wildcard.test(name))
  return {
    pattern: `http ${JSON.stringify(sorted)}`,
    names: globs.length > 0 ? null : sorted,
    keys: [{ names, globs, mark: mockMark, marked: 'left out' }],
  }
}

const wildcard = /[*?[]/
