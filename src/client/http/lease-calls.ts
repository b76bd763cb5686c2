import type { Json } from '../../core/text/json.ts'
import { parseDuration } from '../../core/time/duration.ts'
import type {
  Extended,
  Extension,
  Lease,
  LeaseRequest,
  Settled,
  SettledMany,
  Settlement,
  Settlements,
} from '../api/lease-shapes.ts'
import type { CallOptions, Calls } from './calling.ts'

/** The calls of a worker; `TreadleClient.work` is built on them. */
export class LeaseCalls {
  readonly #calls: Calls

  constructor(calls: Calls) {
    this.#calls = calls
  }

  /** Claims jobs; returns none if there was no work within the wait. */
  async take(request: LeaseRequest, options?: CallOptions): Promise<readonly Lease[]> {
    const patienceMs = request.wait === undefined ? 0 : parseDuration(request.wait, 'wait')
    return (await this.#calls.call('lease', { ...options, body: request, patienceMs }))?.leases ?? []
  }

  /** Throws `LEASE_LOST` if the lease is no longer held. */
  async settle(id: string, settlement: Settlement, options?: CallOptions): Promise<Settled['receipt']> {
    return (await this.#calls.call('settle', { ...options, params: { id }, body: settlement })).receipt
  }

  /** Returns the outcomes in the order of the settlements. */
  async settleMany(settlements: Settlements['settlements'], options?: CallOptions): Promise<SettledMany['receipts']> {
    return (await this.#calls.call('settleMany', { ...options, body: { settlements } })).receipts
  }

  /** Returns the outcomes in the order of the leases. */
  async extend(extension: Extension, options?: CallOptions): Promise<Extended['leases']> {
    return (await this.#calls.call('extend', { ...options, body: extension })).leases
  }

  async progress(id: string, token: string, progress: Json, options?: CallOptions): Promise<void> {
    await this.#calls.call('reportProgress', { ...options, params: { id }, body: { token, progress } })
  }
}
