import { type Steps, wait } from '../../../core/answer.ts'
import { isReadyIn } from '../dialect.ts'
import type { SqlDatabase } from '../session.ts'
import { mayBeStored } from './lane-numbers.ts'

const jobsPerStatement = 1_000

/** Those of these job names that have ready jobs. */
export function* readyOf(database: SqlDatabase, jobs: readonly string[]): Steps<readonly string[]> {
  const names = jobs.filter(mayBeStored)
  const isOpen = `${isReadyIn(database.dialect, '{lanes}.lane')} = 1`
  const found: string[] = []
  for (let from = 0; from < names.length; from += jobsPerStatement) {
    const some = names.slice(from, from + jobsPerStatement)
    const question = `SELECT DISTINCT job FROM {lanes} WHERE job IN (?) AND ${isOpen}`
    for (const { job } of yield* wait(database.all<{ job: string }>(question, [some]))) found.push(job)
  }
  return found
}
