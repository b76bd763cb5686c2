import type { Answer } from '../../core/answer.ts'

/** A connection of `pg`, a Client or one of a Pool, on which the caller has begun a transaction. */
export interface PostgresConnection {
  query(...args: never[]): unknown
  escapeLiteral(text: string): string
  escapeIdentifier(text: string): string
}

/** A connection of `mysql2`, with promises or callbacks, on which the caller has begun a transaction. */
export interface MysqlConnection {
  query(...args: never[]): unknown
  execute(...args: never[]): unknown
  beginTransaction(...args: never[]): unknown
  escapeId(...args: never[]): string
}

/** An open SQLite file of `better-sqlite3`, `node:sqlite` or `@photostructure/sqlite`, in a transaction that the caller has begun. */
export interface SqliteConnection {
  exec(sql: string): unknown
  prepare(sql: string): {
    run(...values: never[]): unknown
    get(...values: never[]): unknown
    all(...values: never[]): unknown
  }
}

/** A transaction of Knex. */
export interface KnexTransaction {
  readonly client: unknown
  isCompleted(): boolean
  savepoint(...args: never[]): unknown
}

/** A transaction of Kysely, also one that is ended by hand. */
export interface KyselyTransaction {
  readonly isTransaction: true
  executeQuery(...args: never[]): Promise<unknown>
  withoutPlugins(): unknown
}

/** The client that Prisma gives to the function of an interactive `$transaction`. */
export interface PrismaTransaction {
  $queryRawUnsafe(query: string, ...values: never[]): PromiseLike<unknown>
  $executeRawUnsafe(query: string, ...values: never[]): PromiseLike<unknown>
}

/** Runs one statement in the caller's transaction and gives its rows, as objects. */
export type RunStatement = (sql: string, values: readonly unknown[]) => Promise<readonly unknown[]>

/** What an adapter has made of another kind of transaction. */
export interface AdaptedTransaction {
  readonly [adapted]: () => Answer<JoinableTransaction>
}

/** In the symbol table of the process: two copies of this package understand each other's transactions. */
export const adapted: unique symbol = Symbol.for('treadle.transaction') as never

/** A transaction that the caller has begun, and commits or rolls back by itself. */
export type CallerTransaction =
  | PostgresConnection
  | MysqlConnection
  | SqliteConnection
  | KnexTransaction
  | KyselyTransaction
  | PrismaTransaction
  | AdaptedTransaction

/** What a queue can join: a connection whose driver it knows, or whatever runs statements on the caller's. */
export type JoinableTransaction =
  | { readonly kind: 'postgres'; readonly connection: PostgresConnection }
  | { readonly kind: 'mysql'; readonly connection: MysqlConnection }
  | { readonly kind: 'sqlite'; readonly connection: SqliteConnection }
  | { readonly kind: 'statements'; readonly run: RunStatement }
