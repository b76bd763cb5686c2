import type { KeyPattern } from '../../queue/claiming/key-pattern.ts'
import { mockMark } from '../bedrock/jobs/mock-jobs.ts'

/** Jobs by their names, of which some may be patterns. */
export interface JobChoice {
  /** The same text for the same choice. */
  readonly pattern: string
  /** Null where there are patterns among them. */
  readonly names: readonly string[] | null
  readonly keys: KeyPattern
}

/** No pattern fits a job for tests of the Bedrock protocol: whoever takes all jobs would do it in earnest. */
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
