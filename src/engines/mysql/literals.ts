import type { SqlValue } from '../sql/session.ts'

/** What every charset of a connection has at the same place, without what ends a text or, on some connections, begins an escape. */
const plain = /^[ -&(-[\]-~]*$/

/** No unit of a text, which is half of a character or a whole one, takes more: three bytes, each of two digits. */
export const mostCharactersPerUnit = 6

/**
 * A value as it stands in a statement, in ASCII alone. A text that is not plain is said by its bytes, so that it neither leaves its
 * literal nor is another one there, whatever the connection's charset and `sql_mode` are.
 */
export function literal(value: SqlValue): string {
  if (value === null) return 'NULL'
  if (typeof value === 'string') return plain.test(value) ? `'${value}'` : textIn('utf8mb4', value)
  if (typeof value === 'number') return String(value)
  // Nothing is in an empty list, and a statement cannot say one.
  return value.length === 0 ? 'NULL' : value.map(literal).join(', ')
}

/** A text of this charset, which is not the connection's then. */
export function textIn(charset: 'ascii' | 'utf8mb4', text: string): string {
  return plain.test(text) ? `_${charset}'${text}'` : `_${charset} X'${Buffer.from(text).toString('hex')}'`
}
