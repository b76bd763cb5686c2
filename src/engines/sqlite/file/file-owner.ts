import { TreadleError } from '../../../core/errors.ts'
import { ownTrustProblem, trustProblem } from '../../../core/files/file-trust.ts'
import type { Logger } from '../../../core/logger.ts'

/** Suffixes of the database and of the files that SQLite and workers keep beside it. */
const files = ['', '-wal', '-shm', '.wake']

/**
 * Refuses a database that belongs to another user or that others can write to: they could change and delete any job and, without
 * signing, run anything. If others could only replace the file, this logs a warning: folders shared by a group are common, and
 * signed jobs are verified no matter who wrote them.
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
