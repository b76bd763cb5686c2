import type { DefinitionFields } from '../fields.ts'
import type { Changes } from '../given-values.ts'

/** What was said of a job before this word. */
export type SaidOfJob = Pick<DefinitionFields, 'job'> & Partial<DefinitionFields>

/** What each word changes, by what was said before it and by its arguments. A field of undefined is as if nothing was said of it. */
export type WordTable<Words> = {
  readonly [Word in keyof Words]: (said: SaidOfJob, ...args: readonly never[]) => Changes
}

/** Of which job an error speaks. */
export function subjectOf({ job }: SaidOfJob): string {
  return `Job "${job}"`
}
