import { TreadleError } from '../../../core/errors.ts'
import type { MysqlField, MysqlQueryable } from './client.ts'
import { mysqlFailure } from './failure.ts'

export interface AskingLimits {
  /** Maximum statement length: the server's `max_allowed_packet`. It drops connections that send a longer one. */
  readonly maxPacketBytes: number
  /** How long a statement may take before it fails; null for no limit. */
  readonly longestMs: number | null
}

/** Sends a statement and returns the answer. */
export async function ask(client: MysqlQueryable, sql: string, limits: AskingLimits): Promise<unknown> {
  const { maxPacketBytes, longestMs } = limits
  // Statements are ASCII, so a character is a byte.
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
 * A connection may be configured not to count rows that an update leaves unchanged. The info text always counts them, in any
 * language: `Rows matched: 1  Changed: 0  Warnings: 0`.
 */
export function foundRows({ affectedRows, info }: MysqlReport): number {
  const [found] = /\d+/.exec(info) ?? []
  return found === undefined ? affectedRows : Number(found)
}

/** Sent with each statement, to override the pool's own settings for results. */
const answerForm = { typeCast, rowsAsArray: false, nestTables: false, namedPlaceholders: false } as const

const numbers = new Set(['TINY', 'SHORT', 'INT24', 'LONG', 'LONGLONG', 'DECIMAL', 'NEWDECIMAL', 'FLOAT', 'DOUBLE'])

/**
 * Returns numbers as numbers and everything else as text, whatever the pool's settings. None of the queue's numbers is too large
 * for that.
 */
function typeCast(field: MysqlField, next: () => unknown): unknown {
  if (!numbers.has(field.type)) return field.string('utf8')
  const value = next()
  return value === null ? null : Number(value)
}
