import type { SqlValue } from '../sql/session.ts'

/**
 * A value as it stands in a statement. Quotes are doubled and not led by a backslash, so that a text ends where it should also
 * on a connection on which a backslash is a character like any other.
 */
export function literal(value: SqlValue): string {
  if (value === null) return 'NULL'
  if (typeof value === 'string') return `'${value.replaceAll(/['\\]/g, '$&$&')}'`
  if (typeof value === 'number') return String(value)
  // Nothing is in an empty list, and a statement can not say one.
  return value.length === 0 ? 'NULL' : value.map(literal).join(', ')
}
