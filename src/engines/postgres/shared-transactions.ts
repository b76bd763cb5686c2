import type { JoinableTransaction } from '../../definition/transactions/caller-transaction.ts'
import type { SqlSession } from '../sql/session.ts'
import { foreignFailure } from '../sql/transactions/foreign-failure.ts'
import { plainRows } from '../sql/transactions/foreign-rows.ts'
import type { WorkConnection } from '../sql/transactions/open-transaction.ts'
import { reasonOf } from './connections/broken-clients.ts'
import type { PostgresAnswer, PostgresQueryable } from './connections/client.ts'
import { stateOf } from './connections/failure.ts'
import { Preparing } from './connections/preparing.ts'
import { PostgresSession } from './connections/session.ts'
import type { PostgresStatements } from './statements.ts'

/** A session in a caller's transaction. Statements are not prepared on a connection that belongs to someone else. */
export function sessionOn(found: JoinableTransaction, statements: PostgresStatements): SqlSession | null {
  const options = { statements, preparing: new Preparing(false), longestMs: null }
  if (found.kind === 'postgres') return new PostgresSession(found.connection as unknown as PostgresQueryable, options)
  if (found.kind !== 'statements') return null
  const query = async ({ text, values }: { readonly text: string; readonly values: unknown[] }): Promise<PostgresAnswer> => {
    try {
      return { rows: plainRows(await found.run(text, values)), rowCount: null }
    } catch (thrown) {
      throw foreignFailure(thrown, isServerError, (code) => ({ code, severity: 'ERROR' }))
    }
  }
  return new PostgresSession({ query }, options)
}

const isServerError = (thrown: unknown) => stateOf(thrown) !== undefined

/** The part of a `pg` client that a handler's statements need. */
interface PgClient {
  query(text: string, values?: readonly unknown[]): Promise<PostgresAnswer>
}

/**
 * Until the transaction ends, the planner's defaults are restored and no timeouts of the queue apply: the queue knows nothing
 * about these statements.
 */
const settings = ['enable_seqscan', 'jit', 'statement_timeout', 'idle_in_transaction_session_timeout']
const freedom = settings.map((name) => `SET LOCAL ${name} TO DEFAULT`).join('; ')

export function workOn(connection: unknown): WorkConnection {
  const client = connection as PgClient
  return {
    client,
    joinable: { kind: 'postgres', connection: client as never },
    endings: null,
    async begin(savepoint) {
      await client.query(`${freedom}; SAVEPOINT ${savepoint}`)
    },
    async query(sql, values) {
      try {
        const { rows, rowCount } = await client.query(sql, values)
        return { rows, changes: rowCount ?? 0 }
      } catch (thrown) {
        throw reasonOf(client, thrown) ?? thrown
      }
    },
  }
}
