import type { Envelope } from '../envelope/envelope.ts'
import type { OutcomeWord } from '../execution/end/outcome.ts'
import type { SendReceipt } from '../queue/contract/contract.ts'

/** The job that is counted. */
export interface ObservedJob {
  readonly queue: string
  readonly job: string
}

/** How a run ended. Values that were not measured are null: nothing ran, or nothing was written. */
export interface ObservedEnd {
  readonly outcome: OutcomeWord
  readonly runMs: number | null
  readonly settleMs: number | null
}

/** The calls to a queue that are counted. */
export type BackendCall = 'send' | 'lease' | 'settle' | 'extend'

/** Is notified of what a program does with its queue. Called on the hot path: must neither throw nor wait. */
export interface Observer {
  dispatched(jobs: readonly ObservedJob[], receipts: readonly SendReceipt[]): void
  /** An attempt starts, this long after its job was due. */
  started(job: ObservedJob, waitMs: number): void
  ended(job: ObservedJob, end: ObservedEnd): void
  called(call: BackendCall, ms: number, hasFailed: boolean): void
}

/** All observers of a program. Callers check `isOn` first, and prepare nothing if there are none. */
export class Observers implements Observer {
  #all: readonly Observer[] = []

  get isOn(): boolean {
    return this.#all.length > 0
  }

  /** Returns the function that removes the observer. */
  add(observer: Observer): () => void {
    this.#all = [...this.#all, observer]
    return () => {
      this.#all = this.#all.filter((each) => each !== observer)
    }
  }

  dispatched(jobs: readonly ObservedJob[], receipts: readonly SendReceipt[]): void {
    for (const each of this.#all) each.dispatched(jobs, receipts)
  }

  started(job: ObservedJob, waitMs: number): void {
    for (const each of this.#all) each.started(job, waitMs)
  }

  ended(job: ObservedJob, end: ObservedEnd): void {
    for (const each of this.#all) each.ended(job, end)
  }

  called(call: BackendCall, ms: number, hasFailed: boolean): void {
    for (const each of this.#all) each.called(call, ms, hasFailed)
  }
}

/** How long a job that starts now has waited since it was due. Never negative, although the clocks of machines may differ. */
export function waitedMs({ runAt, createdAt }: Pick<Envelope, 'runAt' | 'createdAt'>, now: number): number {
  return Math.max(0, now - Math.max(runAt, createdAt))
}
