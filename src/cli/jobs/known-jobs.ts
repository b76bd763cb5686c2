import type { Treadle } from '../../app/treadle.ts'
import { TreadleError } from '../../core/errors.ts'
import { whatThereIs } from '../../core/options.ts'
import { fitsPattern } from '../../core/text/name-pattern.ts'

/** Throws if a key belongs to no job here. */
export function refuseUnknownJobs(jobs: Treadle, keys: readonly string[], advice = ''): void {
  const problem = unknownJobsProblem(jobs, keys)
  if (problem !== undefined) throw new TreadleError('JOB_UNKNOWN', `${problem}${advice}`)
}

export function unknownJobsProblem(jobs: Treadle, keys: readonly string[]): string | undefined {
  const unknown = keys.filter((key) => !jobs.definitions().some(({ job }) => fitsPattern(key, job)))
  if (unknown.length === 0) return undefined
  const known = jobs.definitions().map(({ job }) => job)
  const named = unknown.map((key) => `"${key}"`).join(', ')
  return `No job is defined as ${named}. ${whatThereIs(unknown[0] as string, known, 'Defined here')}.`
}
