import type { Treadle } from '../../app/treadle.ts'
import { TreadleError } from '../../core/errors.ts'
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
  return `No job is defined as ${unknown.map((key) => `"${key}"`).join(', ')}. Defined here: ${known.join(', ') || 'none'}.`
}
