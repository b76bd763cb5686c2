import type { StartGate } from '../../execution/attempt/active-run.ts'
import type { StartRates } from './start-rates.ts'

export interface StartGateOptions {
  readonly leaseMs: number
  /** Renews all leases of the worker. Runs whose leases are lost are told to stop. */
  readonly renewal: () => Promise<void>
  readonly rates: StartRates
}

/** Minimum share of the lease duration that must be left to call a handler. A healthy worker renews the lease long before. */
const leastLeft = 1 / 3

const mostHeldMs = 2_000

/**
 * How long rate limits may hold a job back in this worker. After that it returns to the queue, where it is visible as waiting and
 * needs no lease.
 */
function longestHoldMs(leaseMs: number): number {
  return Math.min(leaseMs, mostHeldMs)
}

/**
 * Prevents a handler from starting on a lease that has expired or is about to. After the process was suspended, the event loop
 * was blocked, the machine slept or the database was slow, the worker may hold jobs that others finished long ago, so it renews
 * first. Also enforces the rate limits of jobs.
 */
export function startGate({ leaseMs, renewal, rates }: StartGateOptions): StartGate {
  const longestMs = leaseMs - leaseMs * leastLeft
  return {
    openMs: ({ sinceAsked }) => Math.max(0, longestMs - sinceAsked()),
    wait: () => renewal(),
    heldMs: ({ lease }) => rates.heldMs(lease),
    longestHoldMs: longestHoldMs(leaseMs),
    pass: ({ lease }) => rates.started(lease),
    passed: ({ lease }) => rates.called(lease),
  }
}
