import { TreadleError } from '../../../core/errors.ts'
import { ownTrustProblem, trustProblem } from '../../../core/files/file-trust.ts'
import type { Logger } from '../../../core/logger.ts'

/** The database, and what SQLite and workers keep beside it. */
const files = ['', '-wal', '-shm', '.wake']

/**
 * Refuses a database that belongs to another user, or that others may write to: with that they could change and delete all jobs, and
 * without signing have anything run. Where they could only put another file in its place, a warning is logged: a folder that a group
 * shares is common, and signed jobs are verified whoever has written them.
 */
export function refuseForeignDatabase(path: string, logger: Logger): void {
  if (path === ':memory:') return
  for (const file of files) {
    const problem = ownTrustProblem(`${path}${file}`, 'who could change and delete jobs')
    if (problem !== undefined) throw new TreadleError('FILE_UNTRUSTED', `The database ${path} is not used: ${problem}`)
  }
  const problem = trustProblem(path, 'who could put another database in the place of yours')
  if (problem !== undefined) logger.warn(`The database ${path}: ${problem}`)
}
