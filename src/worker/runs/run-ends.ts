import { TreadleError } from '../../core/errors.ts'
import { stopwatch } from '../../core/time/clock.ts'
import type { Keep } from '../../definition/definition.ts'
import type { ActiveRun } from '../../execution/attempt/active-run.ts'
import { type EndingDeps, end, plainEnd, skipBehind } from '../../execution/end/end.ts'
import { type Outcome, outcomeWords } from '../../execution/end/outcome.ts'
import type { FinalReceipt } from '../../execution/end/sealing.ts'
import type { QueueBackend, SettleReceipt } from '../../queue/contract/contract.ts'
import type { Observers } from '../../telemetry/observer.ts'
import { type AnnouncingDeps, announce } from '../health/announce.ts'
import type { JobLogs } from './job-logs.ts'
import { PlainEnd } from './plain-end.ts'
import { count, type Tally } from './report.ts'
import type { Settler } from './settler.ts'

export interface RunEndsDeps extends AnnouncingDeps, Omit<EndingDeps, 'settle'> {
  readonly backend: QueueBackend
  /** Stores what jobs log; null if log lines are not stored. */
  readonly logs: JobLogs | null
  readonly observers: Observers
}

export interface RunEndsOptions {
  readonly settler: Settler
  readonly tally: Tally
  /** Called when a call failed and is not retried. */
  readonly onFailed: (what: string, error: unknown) => void
  /** Called when the outcome of a run that ended beside others is on disk. */
  readonly onSettled: () => void
}

/** Writes how runs have ended, and counts and announces it once it is on disk. */
export class RunEnds {
  readonly #deps: RunEndsDeps
  readonly #options: RunEndsOptions
  readonly #ending: EndingDeps
  readonly #answer: PlainEnd['answer']

  constructor(deps: RunEndsDeps, options: RunEndsOptions) {
    this.#deps = deps
    this.#options = options
    this.#ending = { ...deps, settle: (settlement) => options.settler.settle(settlement) }
    this.#answer = (end, receipt, error) => {
      if (error !== null) this.#notWritten(end.run, error)
      if (receipt === 'applied') this.#settled(end, end.outcome)
      else void this.#settledOtherwise(end, receipt)
    }
  }

  /** Settles while other jobs run. Most ends are plain: no promise is made for each of them. */
  settleBeside(run: ActiveRun, outcome: Outcome, durationMs: number): void {
    const isOwn = run.transaction === null && run.trace === null
    const settlement = isOwn ? plainEnd(run.lease, outcome, this.#ending, run.scheduled) : null
    const settleMs = this.#deps.observers.isOn ? stopwatch() : null
    if (settlement === null) void this.settle(run, outcome, durationMs).then(() => this.#options.onSettled())
    else this.#options.settler.settleFor(settlement, new PlainEnd(run, outcome, durationMs, settleMs, this.#answer))
  }

  async settle(run: ActiveRun, outcome: Outcome, durationMs: number): Promise<void> {
    let receipt: FinalReceipt = 'lost'
    const settleMs = this.#deps.observers.isOn ? stopwatch() : null
    run.trace?.settling(outcome)
    try {
      if (run.transaction?.completed) {
        receipt = run.transaction.completed.receipt as FinalReceipt
        await skipBehind(outcome, run.scheduled, this.#ending)
      } else receipt = await end(run.lease, outcome, this.#ending, run.scheduled)
    } catch (error) {
      this.#notWritten(run, error)
    }
    const settled = receipt === 'applied' ? outcome : await this.#otherwise(receipt, run.lease.envelope.id)
    run.trace?.settled(settled)
    this.#tell(run, settled, durationMs, settleMs === null ? null : settleMs())
  }

  /** Another worker has taken over a job that had not begun here. */
  lost(run: ActiveRun): void {
    count(this.#options.tally, 'lost')
    this.#deps.observers.ended(run.lease.envelope, { outcome: 'lost', runMs: null, settleMs: null })
    announce(this.#deps, run, { kind: 'lost' }, 0)
  }

  #settled({ run, durationMs, settleMs }: PlainEnd, settled: Outcome): void {
    this.#tell(run, settled, durationMs, settleMs === null ? null : settleMs())
    this.#options.onSettled()
  }

  /** Nothing was written, or something else than requested. */
  async #settledOtherwise(end: PlainEnd, receipt: Exclude<SettleReceipt, 'applied'>): Promise<void> {
    if (receipt !== 'unsealed') return this.#settled(end, await this.#otherwise(receipt, end.run.lease.envelope.id))
    await this.settle(end.run, end.outcome, end.durationMs)
    this.#options.onSettled()
  }

  #notWritten(run: ActiveRun, error: unknown): void {
    const { name, id } = run.event
    this.#options.onFailed(`the end of ${name} (${id}) could not be written, so it will run again`, error)
  }

  /** Counts and announces an outcome that is on disk. */
  #tell(run: ActiveRun, settled: Outcome, durationMs: number, settleMs: number | null): void {
    const { logs, observers, keepOf } = this.#deps
    const { envelope } = run.lease
    logs?.ended(run, isKept(settled, keepOf(envelope.job)))
    count(this.#options.tally, settled.kind)
    if (observers.isOn) observers.ended(envelope, { outcome: outcomeWords[settled.kind], runMs: durationMs, settleMs })
    announce(this.#deps, run, settled, durationMs)
  }

  /** The outcome of a job that did not end as its run did: its children or a cancellation may have decided it. */
  async #otherwise(receipt: Exclude<FinalReceipt, 'applied'>, id: string): Promise<Outcome> {
    switch (receipt) {
      case 'lost':
        return { kind: 'lost' }
      case 'blocked':
        return { kind: 'wait' }
      case 'cancelled':
        return { kind: 'cancelled' }
      case 'failed':
        return { kind: 'dead', reason: 'dependency', error: new TreadleError('RUN_FAILED', await this.#whyFailed(id)) }
    }
  }

  async #whyFailed(id: string): Promise<string> {
    const record = await this.#deps.backend.store?.get(id).catch(() => null)
    return record?.errors.at(-1)?.message ?? 'A job that it created has failed'
  }
}

/** Whether the job is still stored after this outcome. */
function isKept({ kind }: Outcome, keep: Keep): boolean {
  switch (kind) {
    case 'done':
      return keep.succeeded > 0
    case 'dead':
    case 'cancelled':
    case 'skipped':
      return keep[kind] > 0
    default:
      return true
  }
}
