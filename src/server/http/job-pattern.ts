import { glob } from '../service/glob.ts'

/** Jobs by their names, of which some may be patterns. */
export interface JobChoice {
  /** The same text for the same choice. */
  readonly pattern: string
  /** Null where there are patterns among them. */
  readonly names: readonly string[] | null
  readonly test: (name: string) => boolean
}

export function jobChoice(given: readonly string[]): JobChoice {
  const sorted = [...new Set(given)].toSorted()
  const globs = sorted.map(glob)
  return {
    pattern: JSON.stringify(sorted),
    names: sorted.some((name) => /[*?[]/.test(name)) ? null : sorted,
    test: (name) => globs.some((fits) => fits(name)),
  }
}
