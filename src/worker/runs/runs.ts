import { stopwatch } from '../../core/time/clock.ts'
import { ActiveRun, type StartGate } from '../../execution/attempt/active-run.ts'
import { type ExecutionDeps, execute } from '../../execution/attempt/execute.ts'
import type { Outcome } from '../../execution/end/outcome.ts'
import type { Lease } from '../../queue/contract/contract.ts'
import type { ClaimedJob } from './claimed-job.ts'
import { RunEnds, type RunEndsDeps, type RunEndsOptions } from './run-ends.ts'
import { type RunServicesDeps, type RunServicesOptions, runServices } from './run-services.ts'

export interface RunsDeps extends Omit<ExecutionDeps, 'services'>, Omit<RunEndsDeps, 'logger'>, RunServicesDeps {}

export interface RunsOptions extends RunEndsOptions, Omit<RunServicesOptions, 'leaseOf'> {
  readonly gate: StartGate
  /** Called when a run has ended and its slot is free. */
  readonly onEnded: (run: ActiveRun, durationMs: number) => void
  /** Whether the job runs alone and is given up if its worker dies once more. */
  readonly isLastChance: (lease: Lease) => boolean
}

const holdAgainMs = 1_000

/** The jobs that a worker is running, each from its start until its outcome is on disk. */
export class Runs {
  readonly #deps: RunsDeps
  readonly #options: RunsOptions
  readonly #execution: ExecutionDeps
  readonly #ends: RunEnds
  readonly #active = new Set<ActiveRun>()

  constructor(deps: RunsDeps, options: RunsOptions) {
    this.#deps = deps
    this.#options = options
    this.#ends = new RunEnds(deps, options)
    const leaseOf = (token: string) => this.#runOf(token)?.lease ?? null
    this.#execution = { ...deps, services: runServices(deps, { ...options, leaseOf }) }
  }

  get size(): number {
    return this.#active.size
  }

  /** A run that has completed its job itself no longer has a lease. */
  get tokens(): Iterable<string> {
    return this.running.filter((run) => !run.isEnding).map(({ lease }) => lease.token)
  }

  /** Number of runs that have called code of their job. */
  get called(): number {
    return this.running.filter(({ isCalled }) => isCalled).length
  }

  get running(): readonly ActiveRun[] {
    return [...this.#active]
  }

  start(job: ClaimedJob): void {
    this.#start(this.#newRun(job))
  }

  /** Ends a job that never began like any other, but without calling its handler. */
  startCancelled(job: ClaimedJob): void {
    const run = this.#newRun(job)
    run.stop('cancelled')
    this.#start(run)
  }

  /** Another worker has taken over a job that had not begun here. */
  dropLost(job: ClaimedJob): void {
    this.#ends.lost(this.#newRun(job))
  }

  /** Returns false if none of them matches. */
  cancel(isMeant: (lease: Lease) => boolean): boolean {
    const run = this.running.find(({ lease }) => isMeant(lease))
    run?.stop('cancelled')
    return run !== undefined
  }

  renewed(tokens: ReadonlySet<string>, sinceAsked: () => number): void {
    for (const run of this.#active) if (tokens.has(run.lease.token)) run.sinceAsked = sinceAsked
  }

  lose(token: string): void {
    const run = this.#runOf(token)
    if (run !== undefined && !run.isEnding) run.stop('lost')
  }

  /** The leases whose job is still running here under an older lease, which is therefore lost. */
  loseTwins(leases: readonly Lease[]): ReadonlySet<Lease> {
    const running = new Map(this.running.map((run) => [run.lease.envelope.id, run]))
    const twins = leases.filter(({ envelope }) => running.has(envelope.id))
    for (const { envelope } of twins) running.get(envelope.id)?.stop('lost')
    return new Set(twins)
  }

  abort(): void {
    for (const run of this.#active) run.stop('shutdown')
  }

  /** Returns the jobs of handlers that have not heeded an abort. */
  leaveBehind(): void {
    for (const run of this.#active) run.leaveBehind()
  }

  #newRun({ lease, sinceAsked }: ClaimedJob): ActiveRun {
    return new ActiveRun(lease, this.#deps.clock, this.#options.gate, sinceAsked)
  }

  /** Fast path: most runs may begin at once, and settle while others run. */
  #start(run: ActiveRun): void {
    this.#active.add(run)
    const elapsedMs = stopwatch()
    if (this.#options.isLastChance(run.lease)) return void this.#runAlone(run, elapsedMs)
    const running = run.mayBegin ? execute(run, this.#execution) : this.#outcomeAfterWaiting(run, false)
    void running.then((outcome) => {
      const durationMs = elapsedMs()
      this.#ended(run, durationMs)
      this.#ends.settleBeside(run, outcome, durationMs)
    })
  }

  #ended(run: ActiveRun, durationMs: number): void {
    this.#active.delete(run)
    this.#options.onEnded(run, durationMs)
  }

  #runOf(token: string): ActiveRun | undefined {
    return this.running.find(({ lease }) => lease.token === token)
  }

  /** Until its outcome is written, the death of this worker would be blamed on this job. So nothing else may begin before that. */
  async #runAlone(run: ActiveRun, elapsedMs: () => number): Promise<void> {
    const outcome = await this.#outcomeAfterWaiting(run, true)
    const durationMs = elapsedMs()
    await this.#ends.settle(run, outcome, durationMs)
    this.#ended(run, durationMs)
    this.#options.onSettled()
  }

  /** Does not inspect the job before the lease is certain, because filters and keys are up to the current holder. */
  async #outcomeAfterWaiting(run: ActiveRun, isAlone: boolean): Promise<Outcome> {
    await run.untilItMayBegin()
    if (run.stopReason === 'lost') return { kind: 'lost' }
    const refused = isAlone ? await this.#holdAlone(run.lease.token) : null
    return refused ?? execute(run, this.#execution)
  }

  /** From now on, the death of this worker is blamed on this job. If that cannot be written, the job is snoozed. */
  async #holdAlone(token: string): Promise<Outcome | null> {
    const { leaseMs, onFailed } = this.#options
    try {
      const [receipt] = await this.#deps.backend.extend([token], leaseMs, true)
      return receipt === 'applied' ? null : { kind: 'lost' }
    } catch (error) {
      onFailed('it could not be written that a rescued job runs alone, so it runs later', error)
      return { kind: 'snooze', delayMs: holdAgainMs }
    }
  }
}
