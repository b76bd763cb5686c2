import { TreadleError } from '../../core/errors.ts'
import type { MysqlField, MysqlQueryable } from './client.ts'
import { mysqlFailure } from './failure.ts'

/** No unit of a text, which is half of a character or a whole one, takes more. */
export const mostBytesPerUnit = 3

/** Sends a statement, and gives what it answers. A server drops the connection on which one comes that is too long for it. */
export async function ask(client: MysqlQueryable, sql: string, maxBytes = Number.POSITIVE_INFINITY): Promise<unknown> {
  if (sql.length * mostBytesPerUnit > maxBytes) refuseLongerThan(maxBytes, Buffer.byteLength(sql))
  try {
    const [answer] = await client.query({ sql, typeCast, rowsAsArray: false, nestTables: false, namedPlaceholders: false })
    return answer
  } catch (thrown) {
    throw mysqlFailure(thrown)
  }
}

function refuseLongerThan(maxBytes: number, bytes: number): void {
  if (bytes < maxBytes) return
  const message = `A statement of ${bytes} bytes is too long for MySQL: its max_allowed_packet is ${maxBytes}. Set it higher, or store what is large elsewhere and pass a reference.`
  throw new TreadleError('DATABASE_FAILED', message)
}

export interface MysqlReport {
  readonly affectedRows: number
  readonly info: string
}

/**
 * Connections may have been told to count an update of a row to the values that it has as none. The sentence beside the number
 * counts it always, whatever its language: `Rows matched: 1  Changed: 0  Warnings: 0`.
 */
export function foundRows({ affectedRows, info }: MysqlReport): number {
  const [found] = /\d+/.exec(info) ?? []
  return found === undefined ? affectedRows : Number(found)
}

const numbers = new Set(['TINY', 'SHORT', 'INT24', 'LONG', 'LONGLONG', 'DECIMAL', 'NEWDECIMAL', 'FLOAT', 'DOUBLE'])

/** Numbers are numbers and everything else is text, whatever the pool was told. No number of the queue is too large for it. */
function typeCast(field: MysqlField, next: () => unknown): unknown {
  if (!numbers.has(field.type)) return field.string('utf8')
  const value = next()
  return value === null ? null : Number(value)
}
