import type { JoinableTransaction, MysqlConnection } from '../../definition/transactions/caller-transaction.ts'
import type { SqlSession } from '../sql/session.ts'
import { foreignFailure } from '../sql/transactions/foreign-failure.ts'
import { plainRows } from '../sql/transactions/foreign-rows.ts'
import type { WorkConnection } from '../sql/transactions/open-transaction.ts'
import { CallerClient } from './connections/caller-client.ts'
import type { MysqlQueryable } from './connections/client.ts'
import { idleAsUsual } from './connections/database.ts'
import { numberOf } from './connections/failure.ts'
import { type MeetingOptions, MeetingSession } from './connections/meeting-session.ts'
import { MysqlSession, type MysqlSessionOptions } from './connections/session.ts'

export interface SharingOptions extends Pick<MeetingOptions, 'beside'> {
  readonly session: MysqlSessionOptions
  readonly isMariadb: boolean
}

/** Creates sessions in callers' transactions. */
export function sessionsOn({ session, isMariadb, beside }: SharingOptions): (found: JoinableTransaction) => SqlSession | null {
  return (found) => {
    const client = clientOf(found)
    if (client === null || isMariadb) return client && new MysqlSession(client, session)
    return new MeetingSession(client, { ...session, beside, readsCommitted: ownTransactions.has(found) })
  }
}

function clientOf(found: JoinableTransaction): MysqlQueryable | null {
  if (found.kind === 'mysql') return new CallerClient(promising(found.connection), coreOf(found.connection))
  if (found.kind !== 'statements') return null
  const query = async ({ sql }: { readonly sql: string }) => {
    try {
      // Serves both as rows and as a report.
      return [Object.assign(plainRows(await found.run(sql, [])), { affectedRows: 0, info: '' }), undefined] as const
    } catch (thrown) {
      throw foreignFailure(thrown, isServerError, (code) => ({ errno: Number(code) }))
    }
  }
  // Its statements may run on another connection next time.
  return new CallerClient({ query }, found)
}

const isServerError = (thrown: unknown) => numberOf(thrown) !== undefined

/** Connections with a callback API offer a promise wrapper. */
function promising(connection: MysqlConnection): MysqlQueryable {
  const { promise } = connection as { promise?: unknown }
  return (typeof promise === 'function' ? promise.call(connection) : connection) as MysqlQueryable
}

/** A pool wraps a connection in a new promise object each time it is acquired. */
function coreOf(connection: MysqlConnection): object {
  const { connection: core } = connection as { connection?: unknown }
  return typeof core === 'object' && core !== null ? core : connection
}

/** The part of a `mysql2/promise` connection that a handler's statements need. */
interface MysqlClient {
  query(sql: string): Promise<unknown>
  execute(sql: string, values: readonly unknown[]): Promise<readonly [unknown, unknown]>
}

/** Statements that cause an implicit commit. */
const endings =
  /^(?:create(?!\s+temporary)|drop(?!\s+temporary)|alter|truncate|rename|lock|unlock|grant|revoke|analyze|optimize|repair|flush|set\s+(?:@@\w+\.|session\s+|global\s+|@@)?autocommit)\b/i

/** Transactions that the queue has begun for a handler: they are READ COMMITTED, like all of its own. */
const ownTransactions = new WeakSet<JoinableTransaction>()

export function workOn(connection: unknown): WorkConnection {
  const client = connection as MysqlClient
  const joinable: JoinableTransaction = { kind: 'mysql', connection: client as never }
  ownTransactions.add(joinable)
  return {
    client,
    joinable,
    endings,
    async begin(savepoint) {
      // A handler may do other work between statements.
      await client.query(idleAsUsual)
      await client.query(`SAVEPOINT ${savepoint}`)
    },
    async query(sql, values) {
      const [answer] = await client.execute(sql, values)
      if (Array.isArray(answer)) return { rows: answer, changes: 0 }
      return { rows: [], changes: (answer as { readonly affectedRows: number }).affectedRows }
    },
  }
}
