import type { Answer } from '../../../core/answer.ts'
import { TreadleError } from '../../../core/errors.ts'
import type { SqlTransaction, SqlValue, WorkTransaction } from '../../../definition/transactions/sql-transaction.ts'
import type { JoinedQueue, Settlement, SettleReceipt } from '../../../queue/contract/contract.ts'
import { heldAs, readToken } from '../../sql/rows/lease-token.ts'
import { stateNumber } from '../../sql/rows/tables.ts'
import type { Settled } from '../../sql/settling.ts'
import { controlsTransaction } from '../../sql/transactions/transaction-control.ts'
import type { Connection } from '../file/connection.ts'
import type { SqliteStatement } from '../file/driver.ts'
import { JoinedFile, joinedFiles } from './joined-file.ts'

export interface Completed {
  readonly receipt: SettleReceipt
  /** Whether something may have become ready. */
  readonly wakes: boolean
}

/** What completing a job needs from the engine. */
export interface CompletingParts {
  readonly connection: Connection
  /** Runs the work in a transaction of the engine. */
  readonly run: <Value>(work: () => Value) => Value
  readonly settle: (settlement: Settlement) => Settled
  /** The queue inside the transaction. */
  readonly within: JoinedQueue
}

/** Settles a job in one transaction with its handler's writes. Errors from the handler's function are rethrown unchanged. */
export function complete(token: string, work: (tx: WorkTransaction) => Answer<Settlement>, parts: CompletingParts): Completed {
  const { connection, run, settle, within } = parts
  let failure: { readonly thrown: unknown } | undefined
  let refused: Settlement | undefined
  const end = (settlement: Settlement): Completed => {
    const { receipts, released } = settle(settlement)
    return { receipt: receipts[0] ?? 'lost', wakes: released }
  }
  try {
    return run(() => {
      if (!isHeld(connection, token)) throw new LostLease()
      const tx = new OpenTransaction(connection)
      const joined = new JoinedFile({ ...within, settle: refuseEnd })
      joinedFiles.set(tx, joined)
      let settlement: Settlement
      try {
        settlement = settlementOf(work(tx as unknown as WorkTransaction))
      } catch (thrown) {
        failure = { thrown }
        throw thrown
      } finally {
        tx.close()
        joinedFiles.delete(tx)
      }
      const { receipt, wakes } = end(settlement)
      if (receipt === 'applied' || receipt === 'blocked') return { receipt, wakes: wakes || joined.hasChanged }
      refused = settlement
      throw new NotDone()
    })
  } catch (thrown) {
    if (failure !== undefined) throw failure.thrown
    // The handler's writes were rolled back; the job is settled without them.
    const other = refused
    if (thrown instanceof NotDone && other !== undefined) return run(() => end(other))
    if (thrown instanceof LostLease) return { receipt: 'lost', wakes: false }
    throw thrown
  }
}

/** Settles a job inside the caller's transaction. If the job would end in another way than requested, that is undone. */
export function endJoined(
  settlement: Settlement,
  run: (work: () => void) => void,
  settle: (settlement: Settlement) => SettleReceipt,
): SettleReceipt {
  let receipt: SettleReceipt = 'lost'
  try {
    run(() => {
      receipt = settle(settlement)
      if (receipt !== 'applied' && receipt !== 'blocked') throw new NotDone()
    })
  } catch (thrown) {
    if (!(thrown instanceof NotDone)) throw thrown
  }
  return receipt
}

function isHeld(connection: Connection, text: string): boolean {
  const token = readToken(text)
  const held = `SELECT 1 FROM treadle_jobs WHERE id = ? AND token IN (?, ?) AND state = ${stateNumber.running}`
  return token !== undefined && connection.prepare(held).get(token.id, ...heldAs(token)) !== undefined
}

function refuseEnd(): never {
  throw new TreadleError('DELIVERY_INVALID', 'ctx.transaction() ends its job by itself')
}

/** Anything an asynchronous function does after its first await would not be part of the transaction. */
function settlementOf(answer: Answer<Settlement>): Settlement {
  if (!(answer instanceof Promise)) return answer
  answer.catch(() => {})
  const message =
    'The function given to ctx.transaction(), or the schema of its result, returned a promise. On SQLite it must be synchronous: wait for other things before it.'
  throw new TreadleError('DELIVERY_INVALID', message)
}

/** Rolls the transaction back. */
class LostLease extends TreadleError {
  constructor() {
    super('STOPPED', 'The lease has passed to another worker')
  }
}

/** Rolls the transaction back: the job ends, but not as done, because a child failed or it was asked to stop. */
class NotDone extends TreadleError {
  constructor() {
    super('STOPPED', 'The job did not end as done')
  }
}

/** A handler's access to the database while its transaction is open. */
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
        `The transaction is committed by Treadle, and cannot be asked to ${JSON.stringify(sql)}`,
      )
    }
    return this.#connection.prepare(sql)
  }
}
