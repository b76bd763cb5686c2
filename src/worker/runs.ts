import type { Lease, QueueBackend, SettleReceipt } from '../backends/contract.ts'
import type { ProgressReport } from '../backends/store.ts'
import { Batcher } from '../core/batcher.ts'
import { type Clock, stopwatch } from '../core/clock.ts'
import { formatDuration } from '../core/duration.ts'
import { TreadleError } from '../core/errors.ts'
import type { Events } from '../core/events.ts'
import { storedProgress } from '../envelope/progress.ts'
import { ActiveRun, type StartGate } from '../execution/active-run.ts'
import type { TreadleEvents } from '../execution/events.ts'
import { type ExecutionDeps, execute } from '../execution/execute.ts'
import { openedLinks } from '../execution/handed-on.ts'
import { type Outcome, settlementOf } from '../execution/outcome.ts'
import { type RunServices, runLogger } from '../execution/run-context.ts'
import { type FinalReceipt, sealingKeys, settleSealed } from '../execution/sealing.ts'
import { announce } from './announce.ts'
import { count, type Tally } from './report.ts'
import type { Settler } from './settler.ts'

export interface RunsDeps extends Omit<ExecutionDeps, 'services'> {
  readonly backend: QueueBackend
  readonly clock: Clock
  readonly logger: ExecutionDeps['services']['logger']
  readonly events: Events<TreadleEvents>
  readonly dispatchChild: RunServices['dispatchChild']
}

export interface RunsOptions {
  readonly leaseMs: number
  readonly settler: Settler
  readonly gate: StartGate
  readonly tally: Tally
  /** A call failed, and is not made again. */
  readonly onFailed: (what: string, error: unknown) => void
  /** A run has ended, and its hand is free. */
  readonly onEnded: (run: ActiveRun, durationMs: number) => void
  /** What became of it is on disk. */
  readonly onSettled: () => void
  /** The job runs alone, and is given up if its worker dies once more. */
  readonly isLastChance: (lease: Lease) => boolean
}

const mostReports = 1_000
const mostBegins = 1_000
const holdAgainMs = 1_000

/** The jobs that a worker is running, each from its start until its end is on disk. */
export class Runs {
  readonly #deps: RunsDeps
  readonly #options: RunsOptions
  readonly #execution: ExecutionDeps
  readonly #progress: Batcher<ProgressReport, undefined>
  readonly #begins: Batcher<string, SettleReceipt>
  readonly #active = new Map<string, ActiveRun>()

  constructor(deps: RunsDeps, options: RunsOptions) {
    const { backend, events, logger } = deps
    this.#deps = deps
    this.#options = options
    this.#progress = new Batcher(async (reports) => {
      await backend.store?.report(reports)
      return []
    }, mostReports)
    this.#begins = new Batcher((tokens) => backend.begin(tokens), mostBegins)
    this.#execution = {
      ...deps,
      services: {
        logger,
        started: (run) => {
          if (events.has('job:started')) events.emit('job:started', run.event)
        },
        overran: (run, overrunMs) => {
          const since = formatDuration(overrunMs)
          runLogger(run.event, logger).warn(`was told to stop ${since} ago and has not ended; it keeps its slot until it does`)
          events.emit('job:overrun', { ...run.event, overrunMs })
        },
        report: (token, progress) => this.#report(token, progress),
        begin: async (token) => (await this.#begins.add(token)) === 'applied',
        dispatchChild: deps.dispatchChild,
        links: (waiter) => openedLinks(waiter, backend.store, deps.keys),
        rootOf: async (id) => (await backend.store?.get(id))?.root ?? id,
        recordOf: async (id) => (await backend.store?.get(id)) ?? null,
        extend: async (token) => (await backend.extend([token], options.leaseMs))[0] === 'applied',
      },
    }
  }

  get size(): number {
    return this.#active.size
  }

  /** Of a run that has ended its job itself there is no lease left. */
  get tokens(): Iterable<string> {
    return [...this.#active].filter(([, run]) => !run.isEnding).map(([token]) => token)
  }

  get running(): readonly ActiveRun[] {
    return [...this.#active.values()]
  }

  start(lease: Lease): void {
    this.#start(this.#newRun(lease))
  }

  /** So that a job that never began ends like any other, but its handler is not called. */
  startCancelled(lease: Lease): void {
    const run = this.#newRun(lease)
    run.stop('cancelled')
    this.#start(run)
  }

  /** Another worker has a job that had not begun here. */
  dropLost(lease: Lease): void {
    count(this.#options.tally, 'lost')
    announce(this.#deps, this.#newRun(lease), { kind: 'lost' }, 0)
  }

  /** False when none of them is meant. */
  cancel(isMeant: (lease: Lease) => boolean): boolean {
    const run = [...this.#active.values()].find(({ lease }) => isMeant(lease))
    run?.stop('cancelled')
    return run !== undefined
  }

  lose(token: string): void {
    const run = this.#active.get(token)
    if (run !== undefined && !run.isEnding) run.stop('lost')
  }

  /** Those of the leases whose job still runs here, under a lease that is lost by that. */
  loseTwins(leases: readonly Lease[]): ReadonlySet<Lease> {
    const running = new Map([...this.#active.values()].map((run) => [run.lease.envelope.id, run]))
    const twins = leases.filter(({ envelope }) => running.has(envelope.id))
    for (const { envelope } of twins) running.get(envelope.id)?.stop('lost')
    return new Set(twins)
  }

  abort(): void {
    for (const run of this.#active.values()) run.stop('shutdown')
  }

  #newRun(lease: Lease): ActiveRun {
    return new ActiveRun(lease, this.#deps.clock, this.#options.gate)
  }

  #start(run: ActiveRun): void {
    this.#active.set(run.lease.token, run)
    void this.#run(run)
  }

  async #run(run: ActiveRun): Promise<void> {
    const elapsedMs = stopwatch()
    const outcome = await this.#outcomeOf(run)
    const durationMs = elapsedMs()
    // Until its end is written, the death of this worker is laid to it: nothing else begins before that.
    const isAlone = this.#options.isLastChance(run.lease)
    if (isAlone) await this.#settle(run, outcome, durationMs)
    this.#active.delete(run.lease.token)
    this.#options.onEnded(run, durationMs)
    if (!isAlone) await this.#settle(run, outcome, durationMs)
    this.#options.onSettled()
  }

  /** Nothing of the job is looked at before it is sure that it is held: filters and keys belong to whoever has it now. */
  async #outcomeOf(run: ActiveRun): Promise<Outcome> {
    if (!run.mayBegin) await run.untilItMayBegin()
    if (run.stopReason === 'lost') return { kind: 'lost' }
    const refused = this.#options.isLastChance(run.lease) ? await this.#holdAlone(run.lease.token) : null
    return refused ?? execute(run, this.#execution)
  }

  /** From here on the death of this worker is laid to this job. Where that can not be written, it is tried again later. */
  async #holdAlone(token: string): Promise<Outcome | null> {
    const { leaseMs, onFailed } = this.#options
    try {
      const [receipt] = await this.#deps.backend.extend([token], leaseMs, true)
      return receipt === 'applied' ? null : { kind: 'lost' }
    } catch (error) {
      onFailed('that a rescued job runs alone could not be written, so it is tried again later', error)
      return { kind: 'snooze', delayMs: holdAgainMs }
    }
  }

  async #settle(run: ActiveRun, outcome: Outcome, durationMs: number): Promise<void> {
    const { clock, keepOf, keys } = this.#deps
    const { token, attempt, envelope } = run.lease
    let receipt: FinalReceipt = 'lost'
    try {
      const settlement = settlementOf(outcome, token, attempt, clock.now(), keepOf(envelope.job))
      if (run.transaction?.completed) receipt = run.transaction.completed.receipt as FinalReceipt
      else if (settlement !== null) {
        const { settler } = this.#options
        receipt = await settleSealed(settlement, run.lease, sealingKeys(run.lease, keys), (each) => settler.settle(each))
      }
    } catch (error) {
      const { name, id } = run.event
      this.#options.onFailed(`how ${name} (${id}) ended could not be written, so it will be run again`, error)
    }
    const settled = receipt === 'applied' ? outcome : await this.#otherwise(receipt, envelope.id)
    count(this.#options.tally, settled.kind)
    announce(this.#deps, run, settled, durationMs)
  }

  /** What became of a job that did not end as its run did: its children, or somebody who asked it to stop, may have had the last word. */
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
    return record?.errors.at(-1)?.message ?? 'A job that it made has failed'
  }

  /** That a progress could not be written is no reason to fail the job. */
  async #report(token: string, progress: string): Promise<void> {
    try {
      const job = this.#active.get(token)?.lease.envelope
      // Of a run that has ended nothing is written.
      if (job !== undefined) await this.#progress.add({ token, progress: storedProgress(progress, job, this.#deps.keys) })
    } catch (error) {
      this.#options.onFailed('the progress of a job could not be written', error)
    }
  }
}
