import type { StartGate } from '../../execution/attempt/active-run.ts'
import type { StartRates } from './start-rates.ts'

export interface StartGateOptions {
  readonly leaseMs: number
  /** Renews all leases that the worker holds; those that are lost are told to stop by it. */
  readonly renewal: () => Promise<void>
  readonly rates: StartRates
}

/** A handler is begun only while so much of its lease's time is left: a healthy worker has renewed it long before. */
const leastLeft = 1 / 3

const mostHeldMs = 2_000

/** What its rates hold back for longer goes back to the queue, where others can see that it waits and its lease does not. */
export function longestHoldMs(leaseMs: number): number {
  return Math.min(leaseMs, mostHeldMs)
}

/**
 * Lets no handler begin on a lease that is over, or about to be. After a standstill (a stopped process, a blocked event loop, a
 * machine that slept, a slow database) the worker may hold jobs that others have done long ago: it renews first. And lets no more
 * handlers begin than the rates of their jobs allow.
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
