import type { Timer } from '../../core/time/clock.ts'
import type { Child } from './child.ts'
import { RestartDelay } from './restart-delay.ts'

/** Where one worker process stands, and after it the next. */
export interface Place {
  /** From 1. */
  readonly number: number
  readonly delay: RestartDelay
  child: Child | null
  /** What is to become the child once it is ready. */
  successor: Child | null
  restart: Timer | undefined
  /** A worn child is not replaced before: the last attempt failed. */
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
