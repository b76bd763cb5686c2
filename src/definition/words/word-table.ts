import type { DefinitionFields } from '../fields.ts'
import type { Changes } from '../given-values.ts'

/** The fields given so far, before this call. */
export type SaidOfJob = Pick<DefinitionFields, 'job'> & Partial<DefinitionFields>

/** For each builder method, the changes it makes given the fields so far and its arguments. Undefined removes a field. */
export type WordTable<Words> = {
  readonly [Word in keyof Words]: (said: SaidOfJob, ...args: readonly never[]) => Changes
}

/** The job that an error message is about. */
export function subjectOf({ job }: SaidOfJob): string {
  return `Job "${job}"`
}
