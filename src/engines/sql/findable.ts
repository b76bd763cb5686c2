import { randomToken } from '../../core/id.ts'
import type { SqlValue } from './session.ts'

/**
 * Values to look for. PostgreSQL refuses texts with U+0000, and a driver of SQLite ends them there, so no row has such a text: to
 * look for one is to look for something that is not there. What is written stays as it is.
 */
export function findable(sql: string, values: readonly SqlValue[]): readonly SqlValue[] {
  const isLooking = sql.startsWith('SELECT') || sql.startsWith('DELETE')
  return isLooking && values.some(holdsNul) ? values.map(withoutNul) : values
}

function holdsNul(value: SqlValue | undefined): boolean {
  if (typeof value === 'string') return value.includes('\0')
  return Array.isArray(value) && value.some(holdsNul)
}

function withoutNul(value: SqlValue): SqlValue {
  if (typeof value === 'string') return textWithoutNul(value)
  if (value === null || typeof value === 'number') return value
  return value.map((each) => (typeof each === 'string' ? textWithoutNul(each) : each))
}

function textWithoutNul(text: string): string {
  return text.replaceAll('\0', nowhere)
}

/** No text in a database contains it. */
const nowhere = randomToken()
