import type { SqlValue } from '../../sql/session.ts'

/**
 * Characters with the same code in every connection charset, except the quote and the backslash, which is an escape on some
 * connections.
 */
const plain = /^[ -&(-[\]-~]*$/

/** Maximum number of characters in a literal per UTF-16 code unit: three bytes of two hex digits each. */
export const mostCharactersPerUnit = 6

/**
 * A value as an ASCII-only SQL literal. Text with other characters is written as hex bytes, so that it can neither break out of
 * the literal nor change its meaning, whatever the connection's charset and `sql_mode` are.
 */
export function literal(value: SqlValue): string {
  if (value === null) return 'NULL'
  if (typeof value === 'string') return plain.test(value) ? `'${value}'` : textIn('utf8mb4', value)
  if (typeof value === 'number') return String(value)
  // SQL has no empty list, and nothing equals NULL.
  return value.length === 0 ? 'NULL' : value.map(literal).join(', ')
}

/** A text literal in this charset, regardless of the connection's. */
export function textIn(charset: 'ascii' | 'utf8mb4', text: string): string {
  return plain.test(text) ? `_${charset}'${text}'` : `_${charset} X'${Buffer.from(text).toString('hex')}'`
}
