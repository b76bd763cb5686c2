import type { Waiter } from '../../core/batcher.ts'
import type { ActiveRun } from '../../execution/attempt/active-run.ts'
import type { Outcome } from '../../execution/end/outcome.ts'
import type { SettleReceipt } from '../../queue/contract/contract.ts'

/** The end of a run that succeeded and passes nothing on, while it is being written: see `plainEnd`. */
export class PlainEnd implements Waiter<SettleReceipt> {
  readonly run: ActiveRun
  readonly outcome: Outcome
  readonly durationMs: number
  /** Time since it began to be written; null if nobody wants to know. */
  readonly settleMs: (() => number) | null
  /** Must not throw. An end that could not be written counts as lost, with the error. */
  readonly answer: (end: PlainEnd, receipt: SettleReceipt, error: unknown) => void

  constructor(run: ActiveRun, outcome: Outcome, durationMs: number, settleMs: (() => number) | null, answer: PlainEnd['answer']) {
    this.run = run
    this.outcome = outcome
    this.durationMs = durationMs
    this.settleMs = settleMs
    this.answer = answer
  }

  resolve(receipt: SettleReceipt): void {
    this.answer(this, receipt, null)
  }

  reject(thrown: unknown): void {
    this.answer(this, 'lost', thrown ?? new Error('nothing was thrown'))
  }
}
