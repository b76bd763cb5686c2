import type { Timer } from '../../core/time/clock.ts'
import type { Child } from './child.ts'
import { RestartDelay } from './restart-delay.ts'

/** A slot for a worker process and its successors. */
export interface Place {
  /** Starts at 1. */
  readonly number: number
  readonly delay: RestartDelay
  child: Child | null
  /** The process that will take over once it is ready. */
  successor: Child | null
  restart: Timer | undefined
  /** A worn process is not replaced before this time, because the last attempt failed. */
  replaceableAt: number
}

export function newPlaces(count: number): readonly Place[] {
  return Array.from({ length: count }, (_, index) => ({
    number: index + 1,
    delay: new RestartDelay(),
    child: null,
    successor: null,
    restart: undefined,
    replaceableAt: 0,
  }))
}
