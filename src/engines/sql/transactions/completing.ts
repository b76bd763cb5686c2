import { type Answer, answerOf, type Steps, wait } from '../../../core/answer.ts'
import { isUnreachable, TreadleError } from '../../../core/errors.ts'
import { systemClock } from '../../../core/time/clock.ts'
import type { WorkTransaction } from '../../../definition/transactions/sql-transaction.ts'
import type { Settlement, SettleReceipt } from '../../../queue/contract/contract.ts'
import { repeating } from '../../servers/repeating.ts'
import { causeThat } from '../connections/causes.ts'
import { claimOf, heldAs, readToken, type Token } from '../rows/lease-token.ts'
import { stateNumber } from '../rows/tables.ts'
import type { SqlSession } from '../session.ts'
import type { Settling } from '../settling.ts'
import { type JoinedGround, SqlJoinedQueue } from './joined-queue.ts'
import { OpenTransaction, type WorkConnection } from './open-transaction.ts'

export interface CompletingOptions extends JoinedGround {
  readonly settling: Settling
  /** Whether the same transaction may succeed if it is retried. */
  readonly isTransient: (thrown: unknown) => boolean
  /** The connection of one of the queue's own transactions, for a handler's function. */
  readonly workOn: (connection: unknown) => WorkConnection
}

type Work = (tx: WorkTransaction) => Answer<Settlement>

const savepoint = 'treadle_work'

/** Ends a job in one transaction with what its handler writes. */
export class Completing {
  readonly #options: CompletingOptions

  constructor(options: CompletingOptions) {
    this.#options = options
  }

  async complete(text: string, work: Work): Promise<SettleReceipt> {
    const token = readToken(text)
    if (token === undefined) return 'lost'
    const { settling, time } = this.#options
    let refused: Settlement | undefined
    try {
      return await this.#attempt(token, work, (settlement) => {
        refused = settlement
      })
    } catch (thrown) {
      if (thrown instanceof LostLease) return 'lost'
      if (thrown instanceof WorkFailed) throw thrown.cause
      if (isUnreachable(thrown)) return this.#inDoubt(token, thrown)
      if (!(thrown instanceof NotDone) || refused === undefined) throw thrown
    }
    // What it wrote is rolled back, and its end is written without that.
    const { receipts } = await answerOf(settling.settle([refused], time))
    return receipts[0] as SettleReceipt
  }

  #attempt(token: Token, work: Work, onRefused: (settlement: Settlement) => void): Answer<SettleReceipt> {
    const { database } = this.#options
    return database.transaction((session, connection) => this.#steps(session, connection, token, work, onRefused))
  }

  *#steps(
    session: SqlSession,
    connection: unknown,
    token: Token,
    work: Work,
    onRefused: (settlement: Settlement) => void,
  ): Steps<SettleReceipt> {
    if (!(yield* isHeld(session, token))) throw new LostLease()
    const settlement = yield* wait(this.#work(session, connection, work))
    const receipt = yield* new SqlJoinedQueue(session, this.#options).settle(settlement)
    if (receipt === 'lost') throw new LostLease()
    if (receipt === 'applied' || receipt === 'blocked') return receipt
    onRefused(settlement)
    throw new NotDone()
  }

  /** Errors of the function are rethrown as they are, except a deadlock: then everything is retried. */
  async #work(session: SqlSession, connection: unknown, work: Work): Promise<Settlement> {
    const open = this.#options.workOn(connection)
    await open.begin(savepoint)
    const tx = new OpenTransaction(open)
    let settlement: Settlement
    try {
      settlement = await work(tx as unknown as WorkTransaction)
      await tx.close()
    } catch (thrown) {
      await tx.close().catch(() => {})
      throw causeThat(thrown, this.#options.isTransient) ?? new WorkFailed(thrown)
    }
    await this.#refuseEnded(session)
    return settlement
  }

  /** A savepoint ends with its transaction, however that was ended. */
  async #refuseEnded(session: SqlSession): Promise<void> {
    try {
      await session.run(`RELEASE SAVEPOINT ${savepoint}`)
    } catch (cause) {
      const message =
        'The function given to ctx.transaction() has ended its transaction, or caught the error of a statement that failed in it. Only Treadle may commit it, together with the end of the job.'
      throw new WorkFailed(new TreadleError('DELIVERY_INVALID', message, { cause }))
    }
  }

  /** The connection was lost, and perhaps only the response to the commit. A job that ended by this lease still has its claim. */
  async #inDoubt({ id, claim }: Token, thrown: unknown): Promise<SettleReceipt> {
    const { database } = this.#options
    const question = 'SELECT state, token FROM {jobs} WHERE id = ?'
    const [row] = await repeating(async () => database.all<{ state: number; token: string | null }>(question, [id]), systemClock)
    if (row === undefined || claimOf(row.token) !== claim) throw thrown
    if (row.state === stateNumber.succeeded) return 'applied'
    if (row.state === stateNumber.blocked) return 'blocked'
    throw thrown
  }
}

/** Not locked, because the lease is renewed while the function runs. The settlement itself is fenced. */
function* isHeld(session: SqlSession, token: Token): Steps<boolean> {
  const question = `SELECT id FROM {jobs} WHERE id = ? AND token IN (?) AND state = ${stateNumber.running}`
  return (yield* wait(session.all(question, [token.id, heldAs(token)]))).length === 1
}

/** These roll the transaction back. */
class LostLease extends Error {}

class NotDone extends Error {}

class WorkFailed extends Error {
  constructor(cause: unknown) {
    super('The function has failed', { cause })
  }
}
