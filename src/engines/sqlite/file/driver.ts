import { messageOf, TreadleError } from '../../../core/errors.ts'
import { withoutExperimentalWarning } from '../../../core/process/environment.ts'

/** The part of `DatabaseSync` that this backend uses. It is the same in `node:sqlite` and `@photostructure/sqlite`. */
export interface SqliteDatabase {
  exec(sql: string): void
  prepare(sql: string): SqliteStatement
  close(): void
}

export interface SqliteStatement {
  run(...values: readonly SqliteValue[]): { readonly changes: number | bigint }
  get(...values: readonly SqliteValue[]): unknown
  all(...values: readonly SqliteValue[]): unknown[]
  iterate?(...values: readonly SqliteValue[]): IterableIterator<unknown>
  setReadBigInts?(isOn: boolean): unknown
  /** Rows are lists of values then, and not objects. */
  setReturnArrays?(isOn: boolean): unknown
  columns?(): readonly { readonly name: string }[]
}

/** Wraps a statement so that integers too large for a JavaScript number are read as the nearest number instead of failing. */
export function withLargeNumbers(statement: SqliteStatement): SqliteStatement {
  const rounded = (thrown: unknown, values: readonly SqliteValue[]): unknown[] => {
    // Not every driver sets an error code.
    if (!/too large to be represented/i.test(messageOf(thrown))) throw thrown
    statement.setReadBigInts?.(true)
    try {
      return statement.all(...values).map((row) => Object.fromEntries(Object.entries(row as object).map(asNumber)))
    } finally {
      statement.setReadBigInts?.(false)
    }
  }
  const { iterate } = statement
  return {
    run: statement.run.bind(statement),
    ...(iterate && { iterate: iterate.bind(statement) }),
    get(...values) {
      try {
        return statement.get(...values)
      } catch (thrown) {
        return rounded(thrown, values)[0]
      }
    },
    all(...values) {
      try {
        return statement.all(...values)
      } catch (thrown) {
        return rounded(thrown, values)
      }
    },
  }
}

function asNumber([name, value]: [string, unknown]): [string, unknown] {
  return [name, typeof value === 'bigint' ? Number(value) : value]
}

export type SqliteValue = null | number | string

export type SqliteDriver = new (path: string) => SqliteDatabase

/** Node's built-in SQLite if available, otherwise the package that offers the same to older versions. */
export async function loadDriver(): Promise<SqliteDriver> {
  return loadBuiltIn().catch(loadPackage)
}

/** Throws on a Node without it. */
export async function loadBuiltIn(): Promise<SqliteDriver> {
  const builtIn = 'node:sqlite'
  return withoutExperimentalWarning(
    async () => ((await import(/* webpackIgnore: true */ builtIn)) as { DatabaseSync: SqliteDriver }).DatabaseSync,
  )
}

export async function loadPackage(): Promise<SqliteDriver> {
  const name = '@photostructure/sqlite'
  try {
    return ((await import(/* webpackIgnore: true */ name)) as { DatabaseSync: SqliteDriver }).DatabaseSync
  } catch (cause) {
    const message = `This Node has no built-in SQLite. Run: npm install ${name}@1 (or use Node 22.13 or newer)`
    throw new TreadleError('DRIVER_MISSING', message, { cause })
  }
}
