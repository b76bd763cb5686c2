import type { OnceMark, Settlement, SettleReceipt, Transactions } from '../backends/contract.ts'
import type { Clock } from '../core/clock.ts'
import { messageOf, TreadleError } from '../core/errors.ts'
import type { JobDefinition, Keep } from '../definition/definition.ts'
import { validateAtOnce } from '../definition/schema.ts'
import type { SqlTransaction } from '../definition/sql-transaction.ts'
import { type Outcome, settlementOf } from './outcome.ts'
import { type ResultDeps, resultText } from './result.ts'

export interface TransactionDeps extends ResultDeps {
  /** Undefined where the queue is not in a SQL database. */
  readonly transactions: Transactions | undefined
  readonly keepOf: (job: string) => Keep
  readonly clock: Clock
}

/** The run that the transaction belongs to. */
export interface CompletingRun {
  readonly definition: JobDefinition
  readonly token: string
  readonly attempt: number
  readonly once: OnceMark | null
  /** Called when the lease turns out to be another worker's; gives the reason. */
  readonly onLost: () => Error
}

/** The job has ended, whatever its handler does from here on. */
export interface Completed extends Work<unknown> {
  /** What the queue made of it: its children may have had the last word. */
  readonly receipt: SettleReceipt
}

interface Work<Result> {
  readonly outcome: Outcome
  readonly result: Result
}

/** The one transaction in which a run writes what it did, and that it has done it. */
export class RunTransaction {
  readonly #run: CompletingRun
  readonly #deps: TransactionDeps
  #isUsed = false
  #completed: Completed | null = null

  constructor(run: CompletingRun, deps: TransactionDeps) {
    this.#run = run
    this.#deps = deps
  }

  get completed(): Completed | null {
    return this.#completed
  }

  /** One that was rolled back may be tried again. */
  async run<Result>(work: (tx: SqlTransaction) => Result): Promise<Result> {
    const { definition, token, onLost } = this.#run
    const { transactions } = this.#deps
    if (transactions === undefined) {
      throw new TreadleError('CAPABILITY_MISSING', `ctx.transaction() of "${definition.job}" needs a queue in a SQL database`)
    }
    if (this.#isUsed)
      throw new TreadleError(
        'DELIVERY_INVALID',
        `ctx.transaction() of "${definition.job}" ends the job, so it can be called once`,
      )
    this.#isUsed = true
    let done: Work<Result> | undefined
    let receipt: SettleReceipt
    try {
      receipt = await transactions.complete(token, (tx) => {
        done = this.#done(work(tx))
        return this.#settlement(done.outcome)
      })
      if (receipt === 'lost') throw onLost()
    } catch (thrown) {
      this.#isUsed = false
      throw thrown
    }
    const { outcome, result } = done as Work<Result>
    const undone = undoneBy(receipt, definition.job)
    this.#completed = { outcome: undone?.outcome ?? outcome, result, receipt }
    if (undone !== null) throw undone.error
    return result
  }

  /** What became of a run that threw after its job had ended; null when it had not. */
  afterwards(thrown: unknown): Outcome | null {
    if (this.#completed === null) return null
    if (this.#completed.outcome.kind !== 'done') return this.#completed.outcome
    const { definition } = this.#run
    this.#deps.services.logger.warn(
      `"${definition.job}" has succeeded in its transaction, and threw after it: ${messageOf(thrown)}`,
    )
    return this.#completed.outcome
  }

  #done<Result>(result: Result): Work<Result> {
    const { definition, once } = this.#run
    const { job, output } = definition.fields
    refusePromise(result, job)
    const checked = output === null ? result : validateAtOnce(output, result, `result of "${job}"`, 'RESULT_INVALID')
    return { outcome: { kind: 'done', result: resultText(checked, job, this.#deps), once }, result }
  }

  #settlement(outcome: Outcome): Settlement {
    const { definition, token, attempt } = this.#run
    const { clock, keepOf } = this.#deps
    return settlementOf(outcome, token, attempt, clock.now(), keepOf(definition.job)) as Settlement
  }
}

/** What a job comes to that has ended, but not as done: what the function wrote is not there. */
function undoneBy(receipt: SettleReceipt, job: string): { readonly outcome: Outcome; readonly error: TreadleError } | null {
  if (receipt !== 'failed' && receipt !== 'cancelled') return null
  const why = receipt === 'failed' ? 'one of its children has failed' : 'it was asked to stop'
  const error = new TreadleError('STOPPED', `The transaction of "${job}" was rolled back: ${why}`)
  return { error, outcome: receipt === 'failed' ? { kind: 'dead', reason: 'dependency', error } : { kind: 'cancelled' } }
}

/** What such a function does after its first wait would not be part of the transaction. */
function refusePromise(result: unknown, job: string): void {
  if (typeof (result as { then?: unknown } | null | undefined)?.then !== 'function') return
  Promise.resolve(result).catch(() => {})
  const message = `The function given to ctx.transaction() of "${job}" gave a promise. It must be synchronous: wait for other things before it.`
  throw new TreadleError('DELIVERY_INVALID', message)
}
