import { Batcher } from '../core/batcher.ts'
import { TreadleError } from '../core/errors.ts'
import { type Clock, pause, type Timer } from '../core/time/clock.ts'
import { webToken } from '../core/web-token.ts'
import type { Lease, SettledMany } from './api/lease-shapes.ts'
import { HandlersByName } from './handlers-by-name.ts'
import type { LeaseCalls } from './http/lease-calls.ts'
import { ServerProblem } from './http/server-problem.ts'
import { type RemoteWorkConfig, type RemoteWorkOptions, remoteWorkConfig } from './remote-options.ts'
import { type Ending, RemoteRun } from './remote-run.ts'

interface RemoteWorkerDeps {
  readonly leases: LeaseCalls
  readonly clock: Clock
}

const largestSettle = 100
const firstPauseMs = 500
const longestPauseMs = 15_000

/** A worker that talks to a job server instead of its database. Starts at once. */
export class RemoteWorker implements AsyncDisposable {
  /** Resolves when the worker has stopped; rejects if the server denies it access, as with a wrong token. */
  readonly ended: Promise<void>
  readonly #handlers: HandlersByName
  readonly #config: RemoteWorkConfig
  readonly #deps: RemoteWorkerDeps
  readonly #runs = new Map<RemoteRun, Promise<void>>()
  readonly #settles: Batcher<Ending, SettledMany['receipts'][number]>
  readonly #stopping = new AbortController()
  readonly #name = `remote-${webToken()}`
  #freed: () => void = () => {}
  #beat: Timer | undefined
  #hasEnded = false

  constructor(handlers: object, options: RemoteWorkOptions, deps: RemoteWorkerDeps) {
    this.#config = remoteWorkConfig(handlers, options)
    this.#handlers = new HandlersByName(handlers)
    this.#deps = deps
    this.#settles = new Batcher((endings: readonly Ending[]) => this.#settle(endings), largestSettle)
    const { signal } = options
    const stop = () => this.#stopping.abort()
    if (signal?.aborted) stop()
    signal?.addEventListener('abort', stop, { once: true })
    this.#stopping.signal.addEventListener('abort', () => this.#freed(), { once: true })
    this.ended = this.#work().finally(() => signal?.removeEventListener('abort', stop))
    // `onError` has reported it, so a program that ignores `ended` must not crash.
    this.ended.catch(() => {})
  }

  /** The number of jobs it is running. */
  get running(): number {
    return this.#runs.size
  }

  /** Takes no more jobs, waits for the running ones, aborts them after the grace period, and releases what is left. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.ended.catch(() => {})
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  async #work(): Promise<void> {
    const { concurrency } = this.#config
    this.#beatLater(this.#config.leaseMs / 3)
    try {
      while (!this.#stopping.signal.aborted) {
        if (this.#runs.size >= concurrency) await this.#oneEnds()
        else for (const lease of await this.#take(concurrency - this.#runs.size)) this.#begin(lease)
      }
    } catch (error) {
      this.#config.onError(error)
      throw error
    } finally {
      await this.#finish()
      this.#hasEnded = true
      this.#beat?.cancel()
    }
  }

  /** Empty if the worker was stopped while waiting. */
  async #take(limit: number): Promise<readonly Lease[]> {
    const { jobs, queues, leaseMs, waitMs, owner = this.#name } = this.#config
    const request = { jobs, limit, lease: leaseMs, wait: waitMs, owner, ...(queues !== undefined && { queues }) }
    const { signal } = this.#stopping
    return (await this.#persistently(() => this.#deps.leases.take(request, { signal }), { signal })) ?? []
  }

  #begin(lease: Lease): void {
    const run = new RemoteRun(lease, { ...this.#deps, onError: this.#config.onError })
    const done = run
      .execute(this.#handlers.of(lease.job))
      .then((ending) => (ending === null ? undefined : this.#settles.add(ending)))
      .then(
        () => {},
        (error: unknown) => this.#config.onError(error),
      )
      .finally(() => {
        this.#runs.delete(run)
        this.#freed()
      })
    this.#runs.set(run, done)
  }

  /** Resolves when a run ends or the worker is told to stop. */
  #oneEnds(): Promise<void> {
    return new Promise((resolve) => {
      this.#freed = resolve
    })
  }

  /** In stages: wait, abort, release. */
  async #finish(): Promise<void> {
    const { clock } = this.#deps
    const all = Promise.all(this.#runs.values())
    const enough = new AbortController()
    void all.then(() => enough.abort())
    await pause(clock, this.#config.graceMs, enough.signal)
    for (const run of this.#runs.keys()) run.interrupt('shutdown')
    await pause(clock, abortedMs, enough.signal)
    for (const run of this.#runs.keys()) run.abandon('shutdown')
    await all
  }

  /** Finished work must not be repeated, so this retries while the server may come back. */
  async #settle(endings: readonly Ending[]): Promise<SettledMany['receipts']> {
    const { leases } = this.#deps
    let receipts: SettledMany['receipts']
    try {
      receipts = (await this.#persistently(() => leases.settleMany(endings), { mostTries: mostSettleTries })) ?? []
    } catch (error) {
      if (!isTooLarge(error) || endings.length === 1) throw error
      receipts = (await Promise.all(endings.map((ending) => this.#settle([ending])))).flat()
    }
    const lost = endings.filter((_, at) => receipts[at] === 'lost')
    for (const { id } of lost)
      this.#config.onError(new TreadleError('LEASE_LOST', `The lease of job ${id} was lost before it ended`))
    return receipts
  }

  #beatLater(delayMs: number): void {
    if (!this.#hasEnded) this.#beat = this.#deps.clock.timer(delayMs, () => void this.#extend())
  }

  async #extend(): Promise<void> {
    const { leaseMs, onError } = this.#config
    const runs = [...this.#runs.keys()]
    try {
      if (runs.length > 0) await this.#renew(runs)
      this.#beatLater(leaseMs / 3)
    } catch (error) {
      onError(error)
      // The leases keep running out, so retry sooner than the usual interval.
      this.#beatLater(leaseMs / 12)
    }
  }

  async #renew(runs: readonly RemoteRun[]): Promise<void> {
    const leases = runs.map(({ lease: { id, token } }) => ({ id, token }))
    const held = await this.#deps.leases.extend({ leases, lease: this.#config.leaseMs })
    for (const [at, run] of runs.entries()) {
      if (held[at] === 'lost') run.abandon('lost')
      if (held[at] === 'stop') run.interrupt('cancelled')
    }
  }

  /** Retries while the server is unreachable or temporarily unable to answer; undefined if the signal was aborted. */
  async #persistently<Answer>(
    ask: () => Promise<Answer>,
    { signal, mostTries = Infinity }: Persistence,
  ): Promise<Answer | undefined> {
    for (let tries = 1; !isAborted(signal); tries++) {
      try {
        return await ask()
      } catch (error) {
        if (isAborted(signal)) break
        if (!isPassing(error) || tries >= mostTries) throw error
        this.#config.onError(error)
        await pause(this.#deps.clock, Math.min(firstPauseMs * 2 ** (tries - 1), longestPauseMs), signal)
      }
    }
    return undefined
  }
}

interface Persistence {
  readonly signal?: AbortSignal
  readonly mostTries?: number
}

/** How long a handler may take to end after its signal was aborted. */
const abortedMs = 5_000
const mostSettleTries = 10

function isPassing(error: unknown): boolean {
  if (error instanceof ServerProblem) return [429, 500, 503].includes(error.problem.status)
  return error instanceof TreadleError && error.code === 'SERVER_UNREACHABLE'
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}

function isTooLarge(error: unknown): boolean {
  return error instanceof ServerProblem && error.problem.status === 413
}
