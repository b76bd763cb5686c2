import { isMockKey } from '../bedrock/rules/mock-jobs.ts'
import { glob } from '../service/glob.ts'

/** Jobs by their names, of which some may be patterns. */
export interface JobChoice {
  /** The same text for the same choice. */
  readonly pattern: string
  /** Null where there are patterns among them. */
  readonly names: readonly string[] | null
  readonly test: (name: string) => boolean
}

/** No pattern fits a job for tests of the Bedrock protocol: whoever takes all jobs would do it in earnest. */
export function jobChoice(given: readonly string[]): JobChoice {
  const sorted = [...new Set(given)].toSorted()
  const names = new Set(sorted.filter((name) => !wildcard.test(name)))
  const globs = sorted.filter((name) => wildcard.test(name)).map(glob)
  return {
    pattern: `http ${JSON.stringify(sorted)}`,
    names: globs.length > 0 ? null : sorted,
    test: (name) => names.has(name) || (!isMockKey(name) && globs.some((fits) => fits(name))),
  }
}

const wildcard = /[*?[]/
