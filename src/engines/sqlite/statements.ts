import { envelopeVersion } from '../../envelope/envelope.ts'
import { TableNames } from '../sql/rows/table-names.ts'

const prefix = 'treadle_'
export const names = new TableNames(prefix)

/**
 * The identity of a job as it was signed. The part that jobs of one kind share is in a table of its own: a row with a `stamp`
 * refers to it by number and adds only its own id. A missing stamp gives an empty part, so that only its own jobs are refused.
 */
export function identityIn(table: string): string {
  const stamp = `coalesce((SELECT text FROM treadle_stamps WHERE treadle_stamps.stamp = ${table}.stamp), '')`
  return `CASE WHEN ${table}.stamp IS NULL THEN ${table}.identity ELSE '[${envelopeVersion},"' || ${table}.id || '",' || ${stamp} END`
}

/** SQLite does not lock rows: a transaction locks the whole file. */
const locking = / FOR UPDATE(?: SKIP LOCKED)?/g

/** Translates a statement of the queue for SQLite. `IN (?)` is left as it is: see `SqliteSession`. */
export function translated(sql: string): string {
  const text = names
    .in(sql)
    .replaceAll(locking, '')
    .replaceAll('LEAST(', 'min(')
    .replaceAll(/CONCAT\(('[^']*'|[\w.]+), ('[^']*'|[\w.]+)\)/g, '($1 || $2)')
  return /^\s*SELECT\b/.test(text) ? withIdentity(text) : text
}

/** Makes queries return identities as they were signed. */
function withIdentity(sql: string): string {
  return sql.replaceAll(/\b(?:treadle_jobs\.)?identity\b/g, `${identityIn('treadle_jobs')} AS identity`)
}

export function tableOf(table: string): string {
  return names.of(table)
}
