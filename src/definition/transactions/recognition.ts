import type { Answer } from '../../core/answer.ts'
import { TreadleError } from '../../core/errors.ts'
import {
  type AdaptedTransaction,
  adapted,
  type JoinableTransaction,
  type KnexTransaction,
  type KyselyTransaction,
  type MysqlConnection,
  type PostgresConnection,
  type PrismaTransaction,
  type SqliteConnection,
} from './caller-transaction.ts'
import type { SqlTransaction } from './sql-transaction.ts'

/** Identifies a transaction by its shape. */
export function recognized(tx: unknown): Answer<JoinableTransaction> {
  if (isAdapted(tx)) return tx[adapted]()
  if (isPostgres(tx)) return { kind: 'postgres', connection: tx }
  if (isMysql(tx)) return { kind: 'mysql', connection: tx }
  if (isSqlite(tx)) return { kind: 'sqlite', connection: tx }
  if (isKnex(tx)) return ofKnex(tx)
  if (isKysely(tx)) return ofKysely(tx)
  if (isPrisma(tx)) return ofPrisma(tx)
  throw unknownTransaction(tx)
}

/** Throws if the transaction is of no known kind, without joining it. */
export function refuseUnknown(tx: unknown): void {
  const shapes = [isAdapted, isPostgres, isMysql, isSynchronous, isKnex, isKysely, isPrisma]
  if (!shapes.some((isSo) => isSo(tx))) throw unknownTransaction(tx)
}

/** Whether statements in it run synchronously, as in every transaction on a SQLite file. */
export function isSynchronous(tx: unknown): tx is SqliteConnection | SqlTransaction {
  return isSqlite(tx) || (hasMethods(tx, ['run', 'get', 'all']) && !isAdapted(tx))
}

function isAdapted(tx: unknown): tx is AdaptedTransaction {
  return typeof tx === 'object' && tx !== null && adapted in tx
}

function isPostgres(tx: unknown): tx is PostgresConnection {
  return hasMethods(tx, ['query', 'escapeLiteral', 'escapeIdentifier'])
}

function isMysql(tx: unknown): tx is MysqlConnection {
  return hasMethods(tx, ['query', 'execute', 'beginTransaction', 'escapeId']) && !hasMethods(tx, ['batch'])
}

function isSqlite(tx: unknown): tx is SqliteConnection {
  return hasMethods(tx, ['exec', 'prepare'])
}

function isKnex(tx: unknown): tx is KnexTransaction {
  return hasMethods(tx, ['isCompleted', 'savepoint', 'raw']) && hasMethods(tx.client, ['acquireConnection'])
}

function isKysely(tx: unknown): tx is KyselyTransaction {
  return hasMethods(tx, ['executeQuery', 'withoutPlugins']) && tx.isTransaction === true
}

function isPrisma(tx: unknown): tx is PrismaTransaction {
  return hasMethods(tx, ['$queryRawUnsafe', '$executeRawUnsafe']) && !hasMethods(tx, ['$connect'])
}

/**
 * The client returns the connection of the transaction, and would still return it after another transaction has taken it over.
 */
async function ofKnex(trx: KnexTransaction): Promise<JoinableTransaction> {
  if (trx.isCompleted()) throw new TreadleError('TRANSACTION_INVALID', 'This Knex transaction has already ended')
  const connection = await (trx.client as { acquireConnection(): Promise<unknown> }).acquireConnection()
  return recognized(connection)
}

/** Skip the caller's plugins, since they may rename columns in results. */
function ofKysely(trx: KyselyTransaction): JoinableTransaction {
  const plain = trx.withoutPlugins() as { executeQuery(query: object): Promise<{ readonly rows: readonly unknown[] }> }
  return {
    kind: 'statements',
    run: async (sql, parameters) => {
      const query = { kind: 'RawNode', sqlFragments: [sql], parameters: [] }
      return (await plain.executeQuery({ sql, parameters, query, queryId: { queryId: 'treadle' } })).rows
    },
  }
}

function ofPrisma(tx: PrismaTransaction): JoinableTransaction {
  const query = tx.$queryRawUnsafe.bind(tx) as (sql: string, ...values: readonly unknown[]) => PromiseLike<unknown>
  return { kind: 'statements', run: async (sql, values) => (await query(sql, ...values)) as readonly unknown[] }
}

function unknownTransaction(tx: unknown): TreadleError {
  const known =
    'a connection of pg or mysql2, an open file of better-sqlite3 or node:sqlite, or a transaction of Knex, Kysely or Prisma'
  return new TreadleError('TRANSACTION_INVALID', `${problemOf(tx)}. What can be joined is ${known}.`)
}

function problemOf(tx: unknown): string {
  if (hasMethods(tx, ['connect', 'query', 'end']) || hasMethods(tx, ['getConnection'])) {
    return 'A pool has no transaction: each of its statements may run on another connection. Take one connection, and begin the transaction on it'
  }
  if (hasMethods(tx, ['select', 'execute'])) {
    return "This looks like Drizzle: import { fromDrizzle } from 'treadle/transactions', and pass fromDrizzle(tx, sql)"
  }
  if (hasMethods(tx, ['select', 'run', 'all'])) {
    return 'This looks like Drizzle on a SQLite file: pass the open file, which is db.$client of your Drizzle database'
  }
  if (hasMethods(tx, ['$connect']) || hasMethods(tx, ['transaction'])) {
    return 'This is a client, not a transaction: pass the value that its transaction function receives'
  }
  return `No transaction was recognized in ${tx === null ? 'null' : typeof tx === 'object' ? 'this object' : String(tx)}`
}

function hasMethods(value: unknown, names: readonly string[]): value is Readonly<Record<string, unknown>> {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  return names.every((name) => typeof (value as Record<string, unknown>)[name] === 'function')
}
