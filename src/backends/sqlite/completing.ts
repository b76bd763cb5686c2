import type { Answer } from '../../core/answer.ts'
import { type TimeReading, timeNow } from '../../core/clock.ts'
import { TreadleError } from '../../core/errors.ts'
import type { SqlTransaction, SqlValue, WorkTransaction } from '../../definition/sql-transaction.ts'
import type { Settlement, SettleReceipt } from '../contract.ts'
import { controlsTransaction } from '../transaction-control.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'
import { type EngineParts, JoinedFile, joinedFiles } from './joined-file.ts'
import type { Settled, Settling } from './settling.ts'
import { readToken } from './token.ts'

/** Ends a job in one transaction with what its handler writes. */
export class Completing {
  readonly #connection: Connection
  readonly #settling: Settling
  readonly #within: Within
  readonly #held: SqliteStatement

  /** `within` are the parts of the engine that can be used inside of the transaction. */
  constructor(connection: Connection, settling: Settling, within: Within) {
    this.#connection = connection
    this.#settling = settling
    this.#within = within
    this.#held = connection.prepare('SELECT 1 FROM treadle_jobs WHERE seq = ? AND token = ? AND state = 3')
  }

  /** `write` runs a transaction of the engine. What the handler's function throws is thrown as it is. */
  complete(
    token: string,
    work: (tx: WorkTransaction) => Answer<Settlement>,
    time: TimeReading,
    write: <Answer>(work: () => Answer) => Answer,
  ): Settled {
    let failure: { readonly thrown: unknown } | undefined
    let refused: Settlement | undefined
    try {
      return write(() => {
        if (!this.#isHeld(token)) throw new LostLease()
        const tx = new OpenTransaction(this.#connection)
        const joined = new JoinedFile({ ...this.#within, end: refuseEnd }, () => time)
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
        const settled = this.#settling.settle([settlement], timeNow(time))
        const released = settled.released || joined.hasChanged
        if (settled.others.every(([, receipt]) => receipt === 'blocked')) return { ...settled, released }
        refused = settlement
        throw new NotDone()
      })
    } catch (thrown) {
      if (failure !== undefined) throw failure.thrown
      // What it wrote is undone, and its end is written without it.
      const other = refused
      if (thrown instanceof NotDone && other !== undefined) return write(() => this.#settling.settle([other], timeNow(time)))
      if (thrown instanceof LostLease) return { others: [[0, 'lost']], released: false }
      throw thrown
    }
  }

  /** The end alone, in a transaction with writes of the caller. What would be another end than was said is undone. */
  end(settlement: Settlement, time: TimeReading, write: (work: () => void) => void): SettleReceipt {
    let receipt: SettleReceipt = 'lost'
    try {
      write(() => {
        receipt = this.#settling.settle([settlement], timeNow(time)).others[0]?.[1] ?? 'applied'
        if (receipt !== 'applied' && receipt !== 'blocked') throw new NotDone()
      })
    } catch (thrown) {
      if (!(thrown instanceof NotDone)) throw thrown
    }
    return receipt
  }

  #isHeld(text: string): boolean {
    const token = readToken(text)
    return token !== undefined && this.#held.get(token.seq, token.claim) !== undefined
  }
}

/** The parts of the engine that a handler's function may use, through other words than its statements. */
type Within = Omit<EngineParts, 'end'>

function refuseEnd(): never {
  throw new TreadleError('DELIVERY_INVALID', 'ctx.transaction() ends its job by itself')
}

/** What such a function does after its first wait would not be part of the transaction. */
function settlementOf(answer: Answer<Settlement>): Settlement {
  if (!(answer instanceof Promise)) return answer
  answer.catch(() => {})
  const message =
    'The function given to ctx.transaction(), or the schema of its result, gave a promise. On SQLite it must be synchronous: wait for other things before it.'
  throw new TreadleError('DELIVERY_INVALID', message)
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
