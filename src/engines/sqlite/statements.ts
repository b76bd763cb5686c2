import { envelopeVersion } from '../../envelope/envelope.ts'
import { TableNames } from '../sql/rows/table-names.ts'

export const prefix = 'treadle_'
const names = new TableNames(prefix)

/**
 * The identity of a job as it was signed. What jobs of one kind have in common stands in a table of its own: such a row has the
 * number of that text, and only its id is its own.
 */
export function identityIn(table: string): string {
  const stamp = `(SELECT text FROM treadle_stamps WHERE treadle_stamps.stamp = ${table}.stamp)`
  return `CASE WHEN ${table}.stamp IS NULL THEN ${table}.identity ELSE '[${envelopeVersion},"' || ${table}.id || '",' || ${stamp} END`
}

/** No row is locked in SQLite: a transaction has the whole file. */
const locking = / FOR UPDATE(?: SKIP LOCKED)?/g

/** A statement of the queue in SQLite's words. `IN (?)` stays as it is: see `listParts`. */
export function translated(sql: string): string {
  const text = names
    .in(sql)
    .replaceAll(locking, '')
    .replaceAll('LEAST(', 'min(')
    .replaceAll(/CONCAT\(('[^']*'|[\w.]+), ('[^']*'|[\w.]+)\)/g, '($1 || $2)')
  return /^\s*SELECT\b/.test(text) ? withIdentity(text) : text
}

/** Whoever selects an identity gets it as it was signed. */
function withIdentity(sql: string): string {
  return sql.replaceAll(/\b(?:treadle_jobs\.)?identity\b/g, `${identityIn('treadle_jobs')} AS identity`)
}

export function tableOf(table: string): string {
  return names.of(table)
}
