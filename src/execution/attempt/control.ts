import { messageOf, TreadleError } from '../../core/errors.ts'

/** Thrown by `ctx.snooze()`: not a failure, but a request to be called later. */
export class SnoozeSignal extends Error {
  readonly delayMs: number

  constructor(delayMs: number) {
    super('The job was snoozed')
    this.delayMs = delayMs
    // A handler may catch it and throw it again.
    Object.freeze(this)
  }
}

/** Identifies the signal where only its fields arrive. */
export const waitSignalName = 'TreadleWaitSignal'

/** Thrown by `ctx.children()`: leaves the run until the children have ended. */
export class WaitSignal extends Error {
  override readonly name = waitSignalName

  constructor() {
    super('The job waits for its children')
  }
}

/** How a handler leaves a run that is to begin again. */
export type Departure = SnoozeSignal | WaitSignal

/** Log message for a run that was left, and then threw something else. */
export function thrownBehind(departure: Departure, thrown: unknown): string {
  const word = departure instanceof WaitSignal ? 'children' : 'snooze'
  return `the run ended with ctx.${word}(), and the handler then threw: ${messageOf(thrown)}`
}

/** The error for a handler that asks to be called again, but must not be. */
export function refusedReturn(job: string): TreadleError {
  const message = `Job "${job}" is at-most-once: it can neither be snoozed nor wait for its children, because it would start twice`
  return new TreadleError('DELIVERY_INVALID', message)
}
