import type { Json } from '../core/text/json.ts'
import { parseDuration } from '../core/time/duration.ts'
import type {
  Extended,
  Extension,
  Lease,
  LeaseRequest,
  Settled,
  SettledMany,
  Settlement,
  Settlements,
} from './api/lease-shapes.ts'
import type { CallOptions, Calls } from './calling.ts'

/** What a worker does; `TreadleClient.work` is made of it. */
export class LeaseCalls {
  readonly #calls: Calls

  constructor(calls: Calls) {
    this.#calls = calls
  }

  /** Jobs to work on; none where there was no work in all that time. */
  async take(request: LeaseRequest, options?: CallOptions): Promise<readonly Lease[]> {
    const patienceMs = request.wait === undefined ? 0 : parseDuration(request.wait, 'wait')
    return (await this.#calls.call('lease', { ...options, body: request, patienceMs }))?.leases ?? []
  }

  /** Throws `LEASE_LOST` where the lease is no longer held. */
  async settle(id: string, settlement: Settlement, options?: CallOptions): Promise<Settled['receipt']> {
    return (await this.#calls.call('settle', { ...options, params: { id }, body: settlement })).receipt
  }

  /** In the order in which they were given. */
  async settleMany(settlements: Settlements['settlements'], options?: CallOptions): Promise<SettledMany['receipts']> {
    return (await this.#calls.call('settleMany', { ...options, body: { settlements } })).receipts
  }

  /** In the order in which they were given. */
  async extend(extension: Extension, options?: CallOptions): Promise<Extended['leases']> {
    return (await this.#calls.call('extend', { ...options, body: extension })).leases
  }

  async progress(id: string, token: string, progress: Json, options?: CallOptions): Promise<void> {
    await this.#calls.call('reportProgress', { ...options, params: { id }, body: { token, progress } })
  }
}
