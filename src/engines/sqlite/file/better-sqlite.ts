import type { SqliteDatabase, SqliteDriver, SqliteStatement, SqliteValue } from './driver.ts'

/** The part of `better-sqlite3` that this backend uses. */
export interface BetterDatabase {
  exec(sql: string): unknown
  prepare(sql: string): BetterStatement
  pragma(sql: string): unknown
  close(): unknown
}

export type BetterDriver = new (path: string) => BetterDatabase

interface BetterStatement {
  /** Whether it returns rows: then it cannot be run, and otherwise not be read. */
  readonly reader: boolean
  run(...values: readonly BetterValue[]): { readonly changes: number | bigint }
  all(...values: readonly BetterValue[]): unknown[]
  safeIntegers(isOn: boolean): unknown
  raw(isOn: boolean): unknown
  columns(): readonly { readonly name: string }[]
}

type BetterValue = SqliteValue | Readonly<Record<number, SqliteValue>>

export function isBetter(connection: object): connection is BetterDatabase {
  return 'pragma' in connection
}

/** `better-sqlite3` in the form of `node:sqlite`. */
export function adaptedDriver(Database: BetterDriver): SqliteDriver {
  return class extends AdaptedDatabase {
    constructor(path: string) {
      super(new Database(path))
    }
  }
}

export class AdaptedDatabase implements SqliteDatabase {
  readonly #database: BetterDatabase

  constructor(database: BetterDatabase) {
    this.#database = database
  }

  exec(sql: string): void {
    this.#database.exec(sql)
  }

  prepare(sql: string): SqliteStatement {
    const statement = this.#database.prepare(sql)
    // A connection of the program may have been configured for another form of results.
    statement.safeIntegers(false)
    if (statement.reader) statement.raw(false)
    const given = /\?\d/.test(sql) ? byNumber : asGiven
    const all = (values: readonly SqliteValue[]): unknown[] => {
      if (statement.reader) return statement.all(...given(values))
      statement.run(...given(values))
      return []
    }
    return {
      run: (...values) => (statement.reader ? { changes: all(values).length } : statement.run(...given(values))),
      get: (...values) => all(values)[0],
      all: (...values) => all(values),
      setReadBigInts: (isOn = true) => statement.safeIntegers(isOn),
      setReturnArrays: (isOn = true) => statement.reader && statement.raw(isOn),
      columns: () => statement.columns(),
    }
  }

  close(): void {
    this.#database.close()
  }
}

function asGiven(values: readonly SqliteValue[]): readonly BetterValue[] {
  return values
}

/** `better-sqlite3` treats numbered parameters as named ones. */
function byNumber(values: readonly SqliteValue[]): readonly BetterValue[] {
  return [Object.fromEntries(values.map((value, index) => [index + 1, value]))]
}
