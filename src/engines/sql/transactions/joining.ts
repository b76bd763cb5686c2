import { answerOf, type Steps, wait } from '../../../core/answer.ts'
import { TreadleError } from '../../../core/errors.ts'
import type { JoinableTransaction } from '../../../definition/transactions/caller-transaction.ts'
import { recognized } from '../../../definition/transactions/recognition.ts'
import type { JoinedQueue } from '../../../queue/contract/contract.ts'
import type { SqlSession } from '../session.ts'
import type { Stepped } from '../stepped.ts'
import { JoinedDatabase } from './joined-database.ts'
import { type JoinedGround, SqlJoinedQueue } from './joined-queue.ts'

export interface JoiningOptions extends JoinedGround {
  /** Identifies the queue: see `markOf`. */
  readonly mark: number
  /** A session on the caller's connection; null if that belongs to another engine. */
  readonly sessionOn: (found: JoinableTransaction) => SqlSession | null
}

/** The queue inside transactions that callers have begun on their own connections to its database. */
export class Joining {
  readonly #options: JoiningOptions
  /** Connections that are known to lead to the queue's database. */
  readonly #known = new WeakSet<object>()
  /** The last work begun on each connection: two parts of a transaction must not be interleaved. */
  readonly #lasts = new WeakMap<object, Promise<unknown>>()

  constructor(options: JoiningOptions) {
    this.#options = options
  }

  async join(tx: unknown): Promise<Stepped<JoinedQueue>> {
    const found = await recognized(tx)
    const { database, sessionOn } = this.#options
    const session = sessionOn(found)
    if (session === null) throw otherEngine(found.kind, database.dialect.kind)
    const connection = found.kind === 'statements' ? (tx as object) : found.connection
    const inTurn = <Value>(work: () => Steps<Value>) => wait(this.#inTurn(connection, async () => answerOf(work())))
    if (!this.#known.has(connection)) await answerOf(inTurn(() => this.#refuseOther(session)))
    if (found.kind !== 'statements') this.#known.add(connection)
    const queue = new SqlJoinedQueue(session, this.#options)
    return {
      send: (envelopes) => inTurn(() => queue.send(envelopes)),
      get: (id) => inTurn(() => queue.get(id)),
      amend: (changes) => inTurn(() => queue.amend(changes)),
      settle: (settlement) => inTurn(() => queue.settle(settlement)),
    }
  }

  /** A queue that was created at another time is a different one, in another database. */
  *#refuseOther(session: SqlSession): Steps<void> {
    if ((yield* theirMark(session)) === this.#options.mark) return
    const message =
      'The transaction is one of another database than the queue is in. Open the same one for both, or dispatch without in()'
    throw new TreadleError('TRANSACTION_INVALID', message)
  }

  #inTurn<Value>(connection: object, work: () => Promise<Value>): Promise<Value> {
    const turn = (this.#lasts.get(connection) ?? Promise.resolve()).then(work, work)
    this.#lasts.set(connection, turn)
    return turn
  }
}

/**
 * When the queue was created. Read before any caller joins: a caller with a connection from the pool must not wait for a second
 * one.
 */
export function* markOf(session: SqlSession): Steps<number> {
  const [made] = yield* wait(session.all<{ applied_at: unknown }>('SELECT applied_at FROM {migrations} WHERE version = 1'))
  return Number(made?.applied_at)
}

function* theirMark(session: SqlSession): Steps<number | null> {
  try {
    return yield* markOf(new JoinedDatabase(session))
  } catch (thrown) {
    if (thrown instanceof TreadleError && thrown.code !== 'DATABASE_FAILED') throw thrown
    return null
  }
}

function otherEngine(theirs: string, own: string): TreadleError {
  return new TreadleError('TRANSACTION_INVALID', `The transaction is one of ${theirs}, and the queue is in ${own}`)
}
