import { TreadleError } from '../../../core/errors.ts'
import { adapted, type JoinableTransaction } from '../../../definition/transactions/caller-transaction.ts'
import type { AsyncSqlTransaction } from '../../../definition/transactions/sql-transaction.ts'
import { controlsTransaction, statementOf } from './transaction-control.ts'

/** What a driver returns for a statement. */
export interface StatementAnswer {
  readonly rows: unknown[]
  readonly changes: number
}

/** The driver's connection on which a handler's function works. */
export interface WorkConnection {
  readonly client: unknown
  readonly joinable: JoinableTransaction
  /** Statements that implicitly end a transaction on this engine, besides those that do so explicitly. */
  readonly endings: RegExp | null
  /** Sets a savepoint that ends with the transaction, and undoes what the queue has set on the connection for itself. */
  begin(savepoint: string): Promise<void>
  query(sql: string, values: readonly unknown[]): Promise<StatementAnswer>
}

/** What a handler may do with the database while its transaction is open. */
export class OpenTransaction implements AsyncSqlTransaction {
  readonly client: unknown
  readonly #connection: WorkConnection
  readonly #underWay = new Set<Promise<StatementAnswer>>()
  #isOpen = true

  constructor(connection: WorkConnection) {
    this.client = connection.client
    this.#connection = connection
  }

  [adapted](): JoinableTransaction {
    this.#refuseClosed()
    return this.#connection.joinable
  }

  async run(sql: string, ...values: readonly unknown[]): Promise<{ readonly changes: number }> {
    const { changes } = await this.#query(sql, values)
    return { changes }
  }

  async get(sql: string, ...values: readonly unknown[]): Promise<unknown> {
    return (await this.#query(sql, values)).rows[0]
  }

  async all(sql: string, ...values: readonly unknown[]): Promise<unknown[]> {
    return (await this.#query(sql, values)).rows
  }

  /** No more statements after this. Those that were not awaited are still part of the transaction, and may fail it. */
  async close(): Promise<void> {
    this.#isOpen = false
    await Promise.all(this.#underWay)
  }

  #query(sql: string, values: readonly unknown[]): Promise<StatementAnswer> {
    this.#refuseClosed()
    const { endings } = this.#connection
    if (controlsTransaction(sql) || endings?.test(statementOf(sql)) === true) {
      const message = `The transaction is committed by Treadle, and would be ended by ${JSON.stringify(sql)}`
      return Promise.reject(new TreadleError('DELIVERY_INVALID', message))
    }
    const answer = this.#connection.query(sql, values)
    this.#underWay.add(answer)
    const end = () => this.#underWay.delete(answer)
    answer.then(end, end)
    return answer
  }

  #refuseClosed(): void {
    if (!this.#isOpen) throw new TreadleError('DELIVERY_INVALID', 'The transaction is over: use it only inside its function')
  }
}
