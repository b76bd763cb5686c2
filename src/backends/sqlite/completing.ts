import { TreadleError } from '../../core/errors.ts'
import type { SqlTransaction, SqlValue } from '../../definition/sql-transaction.ts'
import type { Settlement } from '../contract.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'
import type { Settled, Settling } from './settling.ts'
import { readToken } from './token.ts'

/** Ends a job in one transaction with what its handler writes. */
export class Completing {
  readonly #connection: Connection
  readonly #settling: Settling
  readonly #held: SqliteStatement

  constructor(connection: Connection, settling: Settling) {
    this.#connection = connection
    this.#settling = settling
    this.#held = connection.prepare('SELECT 1 FROM treadle_jobs WHERE seq = ? AND token = ? AND state = 3')
  }

  /** `write` runs a transaction of the engine. What the handler's function throws is thrown as it is. */
  complete(
    token: string,
    work: (tx: SqlTransaction) => Settlement,
    now: number,
    write: <Answer>(work: () => Answer) => Answer,
  ): Settled {
    let failure: { readonly thrown: unknown } | undefined
    let refused: Settlement | undefined
    try {
      return write(() => {
        if (!this.#isHeld(token)) throw new LostLease()
        const tx = new OpenTransaction(this.#connection)
        let settlement: Settlement
        try {
          settlement = work(tx)
        } catch (thrown) {
          failure = { thrown }
          throw thrown
        } finally {
          tx.close()
        }
        const settled = this.#settling.settle([settlement], now)
        if (settled.others.every(([, receipt]) => receipt === 'blocked')) return settled
        refused = settlement
        throw new NotDone()
      })
    } catch (thrown) {
      if (failure !== undefined) throw failure.thrown
      // What it wrote is undone, and its end is written without it.
      const other = refused
      if (thrown instanceof NotDone && other !== undefined) return write(() => this.#settling.settle([other], now))
      if (thrown instanceof LostLease) return { others: [[0, 'lost']], released: false }
      throw thrown
    }
  }

  #isHeld(text: string): boolean {
    const token = readToken(text)
    return token !== undefined && this.#held.get(token.seq, token.claim) !== undefined
  }
}

/** Rolls the transaction back. */
class LostLease extends TreadleError {
  constructor() {
    super('STOPPED', 'The lease has passed to another worker')
  }
}

/** Rolls the transaction back: the job ends, but not as done, because a child of it failed or it was asked to stop. */
class NotDone extends TreadleError {
  constructor() {
    super('STOPPED', 'The job did not end as done')
  }
}

/** What a handler may do with the database, for as long as its transaction is open. */
class OpenTransaction implements SqlTransaction {
  readonly #connection: Connection
  #isOpen = true

  constructor(connection: Connection) {
    this.#connection = connection
  }

  run(sql: string, ...values: readonly SqlValue[]): { readonly changes: number | bigint } {
    return this.#prepared(sql).run(...(values as readonly string[]))
  }

  get(sql: string, ...values: readonly SqlValue[]): unknown {
    return this.#prepared(sql).get(...(values as readonly string[]))
  }

  all(sql: string, ...values: readonly SqlValue[]): unknown[] {
    return this.#prepared(sql).all(...(values as readonly string[]))
  }

  close(): void {
    this.#isOpen = false
  }

  #prepared(sql: string): SqliteStatement {
    if (!this.#isOpen) throw new TreadleError('DELIVERY_INVALID', 'The transaction is over: use it only inside its function')
    if (controlsTransaction(sql)) {
      throw new TreadleError(
        'DELIVERY_INVALID',
        `The transaction is committed by Treadle, and can not be told to ${JSON.stringify(sql)}`,
      )
    }
    return this.#connection.prepare(sql)
  }
}

const control = /^(?:begin|commit|end|rollback|savepoint|release|pragma|attach|detach|vacuum)\b/i
const blanks = /^(?:\s|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)+/

/** A commit in the middle would leave half of the work without the other. */
function controlsTransaction(sql: string): boolean {
  return control.test(sql.replace(blanks, ''))
}
