import { PermanentError, TreadleError } from '../core/errors.ts'
import { type Json, toJson } from '../core/text/json.ts'
import { writtenReason } from '../core/text/reason.ts'
import type { Clock } from '../core/time/clock.ts'
import type { Lease, Settlements } from './api/lease-shapes.ts'
import type { LeaseCalls } from './http/lease-calls.ts'

/** What a remote handler knows about its job. */
export interface RemoteContext extends Pick<Lease, 'id' | 'job' | 'name' | 'queue' | 'meta' | 'attempt' | 'maxRetries'> {
  /** Aborted when the job is cancelled or times out, its lease is lost, or the worker cannot wait for it any longer. */
  readonly signal: AbortSignal
  /** Stores progress, which is shown with the job. */
  progress(value: Json): Promise<void>
}

/** Runs a job that was claimed over HTTP. */
export type RemoteHandler<Payload> = (payload: Payload, context: RemoteContext) => unknown

/** How a run ended, as reported to the server. */
export type Ending = Settlements['settlements'][number]

/** Why a run was told to stop. */
export type Interruption = 'lost' | 'cancelled' | 'timeout' | 'shutdown'

const maxResultBytes = 512 * 1024

export interface RemoteRunDeps {
  readonly clock: Clock
  readonly leases: LeaseCalls
  readonly onError: (error: unknown) => void
}

/** One job claimed by a remote worker. */
export class RemoteRun {
  readonly lease: Lease
  readonly #deps: RemoteRunDeps
  readonly #aborting = new AbortController()
  #interruption: Interruption | null = null
  #giveUp: () => void = () => {}

  constructor(lease: Lease, deps: RemoteRunDeps) {
    this.lease = lease
    this.#deps = deps
  }

  /** Calls the handler and returns what to report to the server; null if there is nothing to report. Never throws. */
  async execute(handler: RemoteHandler<never>): Promise<Ending | null> {
    const { timeoutMs, payload } = this.lease
    const deadline = timeoutMs === null ? undefined : this.#deps.clock.timer(timeoutMs, () => this.abandon('timeout'))
    const abandoned = new Promise<void>((resolve) => {
      this.#giveUp = resolve
    })
    try {
      const call = async () => handler(payload as never, this.#context())
      const result = await Promise.race([call(), abandoned.then(() => Promise.reject(this.#aborting.signal.reason))])
      return this.#interruption === 'lost' ? null : { ...this.#named(), outcome: 'done', ...this.#resultOf(result) }
    } catch (thrown) {
      return this.#failed(thrown)
    } finally {
      deadline?.cancel()
    }
  }

  /** Only the first reason counts. */
  interrupt(why: Interruption): void {
    if (this.#interruption !== null) return
    this.#interruption = why
    this.#aborting.abort(new TreadleError(why === 'timeout' ? 'TIMEOUT' : 'STOPPED', this.#words(why)))
  }

  /** Stops waiting for the handler. */
  abandon(why: Interruption): void {
    this.interrupt(why)
    this.#giveUp()
  }

  #context(): RemoteContext {
    const { id, token, job, name, queue, meta, attempt, maxRetries } = this.lease
    const { signal } = this.#aborting
    const progress = (value: Json) => this.#deps.leases.progress(id, token, value)
    return { id, job, name, queue, meta, attempt, maxRetries, signal, progress }
  }

  /** A result that is not JSON is no reason to run the job again: it is left out, and the error is reported. */
  #resultOf(result: unknown): { readonly result?: Json } {
    if (result === undefined) return {}
    try {
      return { result: JSON.parse(toJson(result, { what: `result of "${this.lease.job}"`, maxBytes: maxResultBytes })) as Json }
    } catch (error) {
      this.#deps.onError(error)
      return {}
    }
  }

  #failed(thrown: unknown): Ending | null {
    const named = this.#named()
    switch (this.#interruption) {
      case 'lost':
        return null
      case 'cancelled':
        return { ...named, outcome: 'cancelled' }
      case 'shutdown':
        return { ...named, outcome: 'release' }
      case 'timeout':
        return { ...named, outcome: 'fail', error: writtenReason(this.#aborting.signal.reason) }
      case null:
        return { ...named, outcome: thrown instanceof PermanentError ? 'dead' : 'fail', error: writtenReason(thrown) }
    }
  }

  #named(): { readonly id: string; readonly token: string } {
    const { id, token } = this.lease
    return { id, token }
  }

  #words(why: Interruption): string {
    const { id, job, timeoutMs } = this.lease
    const reasons = {
      lost: 'its lease is lost: another worker may have it',
      cancelled: 'it was cancelled',
      timeout: `it took longer than its timeout of ${timeoutMs} ms`,
      shutdown: 'its worker is being stopped',
    }
    return `Job "${job}" (${id}) was asked to stop: ${reasons[why]}`
  }
}
