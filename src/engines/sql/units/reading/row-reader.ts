import type { Steps } from '../../../../core/answer.ts'
import type { UniqueKeys } from '../../keys/unique-keys.ts'
import type { SqlSession } from '../../session.ts'

/** Where to read, and how. */
export interface Reading {
  readonly session: SqlSession
  readonly uniqueKeys: UniqueKeys
  /** Another connection, if this transaction may see an old snapshot of the database. */
  readonly beside: SqlSession | undefined
  /** Whether the rules will write. */
  readonly isLocked: boolean
}

export interface RowReader<Value> {
  /** Stands for what was looked for and does not exist. */
  readonly absent: Value
  read(reading: Reading, names: readonly string[]): Steps<Iterable<readonly [name: string, value: Value]>>
}

export function grouped<Row, Value>(
  rows: readonly Row[],
  nameOf: (row: Row) => string,
  read: (row: Row) => Value,
): ReadonlyMap<string, readonly Value[]> {
  const groups = new Map<string, Value[]>()
  for (const row of rows) {
    const known = groups.get(nameOf(row))
    if (known === undefined) groups.set(nameOf(row), [read(row)])
    else known.push(read(row))
  }
  return groups
}
