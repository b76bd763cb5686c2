import type { EngineTransaction } from '../../sql/connections/pooled-database.ts'
import type { PostgresQueryable } from './client.ts'
import { PostgresSession, type PostgresSessionOptions } from './session.ts'

/** Runs the statements of one transaction. */
export class PostgresTransaction extends PostgresSession implements EngineTransaction {
  static async begin(client: PostgresQueryable, options: PostgresSessionOptions): Promise<PostgresTransaction> {
    const transaction = new PostgresTransaction(client, options)
    await transaction.run('BEGIN ISOLATION LEVEL READ COMMITTED')
    return transaction
  }

  async commit(): Promise<void> {
    await this.run('COMMIT')
  }

  async rollback(): Promise<void> {
    await this.run('ROLLBACK')
  }
}
