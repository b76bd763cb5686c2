import { type Answer, answerOf, atOnce, type Steps, wait } from '../../core/answer.ts'
import { messageOf, TreadleError } from '../../core/errors.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { JobDefinition, Keep } from '../../definition/definition.ts'
import { validated } from '../../definition/schema.ts'
import { isSynchronous } from '../../definition/transactions/recognition.ts'
import type { WorkTransaction } from '../../definition/transactions/sql-transaction.ts'
import type { Envelope } from '../../envelope/envelope.ts'
import type { KeyRing } from '../../envelope/keys/key-ring.ts'
import type { JoinedQueue, OnceMark, Settlement, SettleReceipt, Transactions } from '../../queue/contract/contract.ts'
import { type Outcome, settlementOf } from '../end/outcome.ts'
import { type ResultDeps, refuseFailure, resultText } from '../end/result.ts'
import { type SettledJob, sealed } from '../end/sealing.ts'

export interface TransactionDeps extends ResultDeps {
  /** Undefined if the queue is not in a SQL database. */
  readonly transactions: Transactions | undefined
  readonly keepOf: (job: string) => Keep
  readonly keys: KeyRing | null
  readonly clock: Clock
}

/** Called when the work is done. */
type Again = () => Envelope | null

/** The run that the transaction belongs to. */
export interface CompletingRun {
  readonly definition: JobDefinition
  /** As it was claimed. */
  readonly envelope: SettledJob
  readonly token: string
  readonly attempt: number
  readonly once: OnceMark | null
  /** How it repeats: as it was claimed, or as it has been changed since; null if it does not run again. */
  readonly repeating: {
    readonly claimed: Again
    readonly written: () => Promise<Again>
  }
  /** Whether the lease is still held. */
  readonly isHeld: () => Promise<boolean>
  /** Called when the lease turns out to belong to another worker. Returns the reason. */
  readonly onLost: () => Error
}

/** The job has ended, whatever its handler does from now on. */
export interface Completed {
  readonly outcome: Outcome
  readonly result: unknown
  /** The receipt of the queue: its children may have decided its end. */
  readonly receipt: SettleReceipt
}

/** The one transaction in which a run writes both its work and the end of its job. */
export class RunTransaction {
  readonly #run: CompletingRun
  readonly #deps: TransactionDeps
  #isUsed = false
  #isEnding = false
  /** Its end is written, but in a transaction that its handler may still roll back. */
  #written: Completed | null = null
  #completed: Completed | null = null
  /** The outcome if the queue refused its end. */
  #refused: Outcome | null = null

  constructor(run: CompletingRun, deps: TransactionDeps) {
    this.#run = run
    this.#deps = deps
  }

  get completed(): Completed | null {
    return this.#completed
  }

  /** True from the moment its end is being written, so that a lease that the run itself has ended is not taken for lost. */
  get isEnding(): boolean {
    return this.#isEnding
  }

  /** Uses a transaction of the queue. One that was rolled back may be tried again. */
  async run(work: (tx: WorkTransaction) => unknown): Promise<unknown> {
    const { definition, token, onLost } = this.#run
    const transactions = this.#begin('transaction')
    let receipt: SettleReceipt
    let done: Done | undefined
    try {
      // Read before the transaction: within it, the database may have no other connection for this.
      const again = await this.#run.repeating.written()
      receipt = await transactions.complete(token, (tx) => {
        this.#isEnding = false
        const answer = answerOf(this.#done(promised(work(tx)), again))
        const settlement = (value: Done) => {
          done = value
          this.#isEnding = true
          return value.settlement
        }
        return answer instanceof Promise ? answer.then(settlement) : settlement(answer)
      })
      if (receipt === 'lost') throw onLost()
    } catch (thrown) {
      this.#undo()
      throw thrown
    }
    const { outcome, result } = done as Done
    const undone = undoneBy(receipt, definition.job)
    this.#completed = { outcome: undone?.outcome ?? outcome, result, receipt }
    if (undone !== null) throw undone.error
    return result
  }

  /** Uses a transaction of the handler, which the handler must commit. */
  completeIn(tx: unknown, result: unknown): Answer<void> {
    const steps = this.#completeIn(tx, result)
    return isSynchronous(tx)
      ? atOnce(steps, () => takesTime(this.#run.definition))
      : Promise.resolve().then(() => answerOf(steps))
  }

  /** To be called after the handler has returned. Returns the end that it has written, which must be committed by now. */
  async ended(): Promise<Completed | null> {
    const isWritten = this.#written !== null
    const ended = await this.#look()
    if (isWritten && ended === null) throw new TreadleError('DELIVERY_INVALID', notCommitted(this.#run.definition))
    return ended
  }

  /** The outcome of a run that threw after its job had ended; null if it had not. */
  async afterwards(thrown: unknown): Promise<Outcome | null> {
    const completed = await this.#look()
    if (completed === null) return this.#refused
    if (completed.outcome.kind !== 'done') return completed.outcome
    const { definition } = this.#run
    this.#deps.services.logger.warn(
      `"${definition.job}" has succeeded in its transaction, and its handler then threw: ${messageOf(thrown)}`,
    )
    return completed.outcome
  }

  /** An end that was written in the handler's transaction is committed if the lease is gone. */
  async #look(): Promise<Completed | null> {
    const written = this.#written
    if (written === null) return this.#completed
    if (await this.#run.isHeld()) this.#undo()
    else this.#completed = written
    this.#written = null
    return this.#completed
  }

  /** A handler whose transaction was rolled back may try another one. */
  *#completeIn(tx: unknown, result: unknown): Steps<void> {
    const before = this.#written
    if (before !== null) this.#isUsed = false
    const transactions = this.#begin('completeIn')
    try {
      // Repeats as claimed: a SQLite transaction cannot wait, and elsewhere the queue may have no connection left to read with.
      const { settlement, outcome } = yield* this.#done(result, this.#run.repeating.claimed)
      const queue: JoinedQueue = yield* wait(transactions.join(tx))
      this.#isEnding = true
      const receipt = yield* wait(queue.settle(settlement))
      if (receipt === 'lost' && before !== null) throw endedTwice('completeIn', this.#run.definition)
      if (receipt === 'lost') throw this.#run.onLost()
      const undone = undoneBy(receipt, this.#run.definition.job)
      this.#refused = undone?.outcome ?? null
      if (undone !== null) throw undone.error
      this.#written = { outcome, result, receipt }
    } catch (thrown) {
      if (before === null) this.#undo()
      throw thrown
    }
  }

  #begin(word: string): Transactions {
    const { job } = this.#run.definition
    const { transactions } = this.#deps
    if (transactions === undefined) {
      throw new TreadleError('CAPABILITY_MISSING', `ctx.${word}() of "${job}" needs a queue in a SQL database`)
    }
    if (this.#isUsed) throw endedTwice(word, this.#run.definition)
    this.#isUsed = true
    return transactions
  }

  #undo(): void {
    this.#isUsed = false
    this.#isEnding = false
  }

  *#done(given: Answer<unknown>, again: Again): Steps<Done> {
    const { definition, envelope, token, attempt, once } = this.#run
    const { clock, keepOf, keys } = this.#deps
    const { job, output } = definition.fields
    const result = yield* wait(given)
    const checked = output === null ? result : yield* wait(validated(output, result, `result of "${job}"`, 'RESULT_INVALID'))
    refuseFailure(checked, definition.fields)
    const outcome = {
      kind: 'done',
      result: resultText(checked, job, this.#deps),
      once,
      again: again(),
    } as const
    const settlement = settlementOf(outcome, token, attempt, clock.now(), keepOf(job)) as Settlement
    return { outcome, result, settlement: sealed(settlement, envelope, keys) }
  }
}

interface Done {
  readonly outcome: Outcome
  readonly result: unknown
  readonly settlement: Settlement
}

/** Awaits any thenable: some libraries send a query only when it is awaited. */
function promised(result: unknown): Answer<unknown> {
  const isThenable = typeof (result as { then?: unknown } | null | undefined)?.then === 'function'
  return isThenable ? Promise.resolve(result) : result
}

/** The outcome of a job that ended, but not as done: what the function wrote was rolled back. */
function undoneBy(receipt: SettleReceipt, job: string): { readonly outcome: Outcome; readonly error: TreadleError } | null {
  if (receipt !== 'failed' && receipt !== 'cancelled') return null
  const why = receipt === 'failed' ? 'one of its children has failed' : 'it was asked to stop'
  const error = new TreadleError('STOPPED', `The transaction of "${job}" was rolled back: ${why}`)
  return { error, outcome: receipt === 'failed' ? { kind: 'dead', reason: 'dependency', error } : { kind: 'cancelled' } }
}

function endedTwice(word: string, { job }: JobDefinition): TreadleError {
  return new TreadleError('DELIVERY_INVALID', `ctx.${word}() of "${job}" ends the job, so it can be called once`)
}

function notCommitted({ job }: JobDefinition): string {
  return `ctx.completeIn() of "${job}" wrote its end in a transaction that was not committed when the handler returned, so nothing has ended`
}

function takesTime({ job }: JobDefinition): TreadleError {
  const message = `ctx.completeIn() of "${job}" is synchronous in a transaction on a SQLite file: so must be the schema of its result`
  return new TreadleError('DELIVERY_INVALID', message)
}
