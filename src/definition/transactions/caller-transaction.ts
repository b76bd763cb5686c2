import type { Answer } from '../../core/answer.ts'

/** A `pg` connection (a Client, or one from a Pool) on which the caller has begun a transaction. */
export interface PostgresConnection {
  query(...args: never[]): unknown
  escapeLiteral(text: string): string
  escapeIdentifier(text: string): string
}

/** A `mysql2` connection, with promises or callbacks, on which the caller has begun a transaction. */
export interface MysqlConnection {
  query(...args: never[]): unknown
  execute(...args: never[]): unknown
  beginTransaction(...args: never[]): unknown
  escapeId(...args: never[]): string
}

/** A SQLite file opened with `better-sqlite3`, `node:sqlite` or `@photostructure/sqlite`, inside a transaction of the caller. */
export interface SqliteConnection {
  exec(sql: string): unknown
  prepare(sql: string): {
    run(...values: never[]): unknown
    get(...values: never[]): unknown
    all(...values: never[]): unknown
  }
}

/** A Knex transaction. */
export interface KnexTransaction {
  readonly client: unknown
  isCompleted(): boolean
  savepoint(...args: never[]): unknown
}

/** A Kysely transaction, including a controlled one. */
export interface KyselyTransaction {
  readonly isTransaction: true
  executeQuery(...args: never[]): Promise<unknown>
  withoutPlugins(): unknown
}

/** The client that Prisma passes to the callback of an interactive `$transaction`. */
export interface PrismaTransaction {
  $queryRawUnsafe(query: string, ...values: never[]): PromiseLike<unknown>
  $executeRawUnsafe(query: string, ...values: never[]): PromiseLike<unknown>
}

/** Runs one statement in the caller's transaction and returns its rows as objects. */
export type RunStatement = (sql: string, values: readonly unknown[]) => Promise<readonly unknown[]>

/** Another kind of transaction, wrapped by an adapter. */
export interface AdaptedTransaction {
  readonly [adapted]: () => Answer<JoinableTransaction>
}

/** A global symbol, so that two copies of this package understand each other's transactions. */
export const adapted: unique symbol = Symbol.for('treadle.transaction') as never

/** A transaction that the caller has begun, and will commit or roll back. */
export type CallerTransaction =
  | PostgresConnection
  | MysqlConnection
  | SqliteConnection
  | KnexTransaction
  | KyselyTransaction
  | PrismaTransaction
  | AdaptedTransaction

/** What a queue can join: a connection of a known driver, or a function that runs statements on the caller's connection. */
export type JoinableTransaction =
  | { readonly kind: 'postgres'; readonly connection: PostgresConnection }
  | { readonly kind: 'mysql'; readonly connection: MysqlConnection }
  | { readonly kind: 'sqlite'; readonly connection: SqliteConnection }
  | { readonly kind: 'statements'; readonly run: RunStatement }
