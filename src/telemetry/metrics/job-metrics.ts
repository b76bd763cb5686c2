import { type OutcomeWord, outcomeWords } from '../../execution/end/outcome.ts'
import type { SendReceipt } from '../../queue/contract/contract.ts'
import type { BackendCall, ObservedEnd, ObservedJob, Observer } from '../observer.ts'
import { BoundedPairs } from './bounded-labels.ts'
import type { Labels } from './exposition.ts'
import { Histogram } from './histogram.ts'

/** The counts for one job key in one queue. */
export class JobSeries {
  /** Created once and reused: some collectors process each new object from scratch. */
  readonly labels: Labels
  dispatched = 0
  started = 0
  readonly ended: Record<OutcomeWord, number> = zeroEnds()
  readonly waitSeconds = new Histogram()
  readonly runSeconds = new Histogram()
  readonly settleSeconds = new Histogram()

  constructor(queue: string, job: string) {
    this.labels = { queue, job }
  }
}

/** The counts for one kind of call to the queue. */
class CallSeries {
  failed = 0
  readonly seconds = new Histogram()
}

/** Maximum number of queue and job pairs with their own series. */
export const mostPairs = 100

export const outcomes: readonly OutcomeWord[] = Object.values(outcomeWords)
export const calls: readonly BackendCall[] = ['send', 'lease', 'settle', 'extend']

/** Counts in memory what a program does with its queue. */
export class JobMetrics implements Observer {
  readonly jobs = new BoundedPairs<JobSeries>(mostPairs, (queue, job) => new JobSeries(queue, job))
  readonly calls: Readonly<Record<BackendCall, CallSeries>> = {
    send: new CallSeries(),
    lease: new CallSeries(),
    settle: new CallSeries(),
    extend: new CallSeries(),
  }

  dispatched(jobs: readonly ObservedJob[], receipts: readonly SendReceipt[]): void {
    for (let at = 0; at < jobs.length; at++) {
      const { queue, job } = jobs[at] as ObservedJob
      if (receipts[at]?.stored === true) this.jobs.of(queue, job).dispatched++
    }
  }

  started({ queue, job }: ObservedJob, waitMs: number): void {
    const series = this.jobs.of(queue, job)
    series.started++
    series.waitSeconds.add(waitMs / 1_000)
  }

  ended({ queue, job }: ObservedJob, { outcome, runMs, settleMs }: ObservedEnd): void {
    const series = this.jobs.of(queue, job)
    series.ended[outcome]++
    if (runMs !== null) series.runSeconds.add(runMs / 1_000)
    if (settleMs !== null) series.settleSeconds.add(settleMs / 1_000)
  }

  called(call: BackendCall, ms: number, hasFailed: boolean): void {
    const series = this.calls[call]
    series.seconds.add(ms / 1_000)
    if (hasFailed) series.failed++
  }
}

function zeroEnds(): Record<OutcomeWord, number> {
  return {
    succeeded: 0,
    retried: 0,
    snoozed: 0,
    waiting: 0,
    released: 0,
    dead: 0,
    cancelled: 0,
    skipped: 0,
    lost: 0,
  }
}
