import type { Treadle } from '../app/treadle.ts'
import { TreadleError } from '../core/errors.ts'

/** Refuses keys that no job here has. */
export function refuseUnknownJobs(jobs: Treadle, keys: readonly string[], advice = ''): void {
  const unknown = keys.filter((key) => !jobs.has(key))
  if (unknown.length === 0) return
  const known = jobs.definitions().map(({ job }) => job)
  const message = `No job is defined as ${unknown.map((key) => `"${key}"`).join(', ')}. Defined here: ${known.join(', ') || 'none'}.${advice}`
  throw new TreadleError('JOB_UNKNOWN', message)
}
