import { TreadleError } from '../../../core/errors.ts'
import type { MysqlField, MysqlQueryable } from './client.ts'
import { mysqlFailure } from './failure.ts'

export interface AskingLimits {
  /** The longest statement that the server takes: its `max_allowed_packet`. It drops the connection on which a longer one comes. */
  readonly maxPacketBytes: number
  /** A statement that takes longer fails; null is no limit. */
  readonly longestMs: number | null
}

/** Sends a statement, and gives what it answers. */
export async function ask(client: MysqlQueryable, sql: string, limits: AskingLimits): Promise<unknown> {
  const { maxPacketBytes, longestMs } = limits
  // Statements are ASCII: a character is a byte.
  if (sql.length >= maxPacketBytes) throw longerThan(maxPacketBytes, sql.length)
  try {
    const [answer] = await client.query({ sql, ...answerForm, ...(longestMs !== null && { timeout: longestMs }) })
    return answer
  } catch (thrown) {
    throw mysqlFailure(thrown)
  }
}

function longerThan(maxBytes: number, bytes: number): TreadleError {
  const message = `A statement of ${bytes} bytes is too long for MySQL: its max_allowed_packet is ${maxBytes}. Set it higher, or store what is large elsewhere and pass a reference.`
  return new TreadleError('DATABASE_FAILED', message)
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

/** What a pool may have been told about answers is told again with each statement. */
const answerForm = { typeCast, rowsAsArray: false, nestTables: false, namedPlaceholders: false } as const

const numbers = new Set(['TINY', 'SHORT', 'INT24', 'LONG', 'LONGLONG', 'DECIMAL', 'NEWDECIMAL', 'FLOAT', 'DOUBLE'])

/** Numbers are numbers and everything else is text, whatever the pool was told. No number of the queue is too large for it. */
function typeCast(field: MysqlField, next: () => unknown): unknown {
  if (!numbers.has(field.type)) return field.string('utf8')
  const value = next()
  return value === null ? null : Number(value)
}
