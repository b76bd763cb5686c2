import { TreadleError } from '../core/errors.ts'

/** Thrown by `ctx.snooze()`: not a failure, but the handler's wish to be called later. */
export class SnoozeSignal extends Error {
  readonly delayMs: number

  constructor(delayMs: number) {
    super('The job was snoozed')
    this.delayMs = delayMs
  }
}

/** It is known by this name where only its fields arrive. */
export const waitSignalName = 'TreadleWaitSignal'

/** Thrown by `ctx.children()`: the run is left until the children have ended. */
export class WaitSignal extends Error {
  override readonly name = waitSignalName

  constructor() {
    super('The job waits for its children')
  }
}

/** For a handler that wishes to be called again, and must not be. */
export function refusedReturn(job: string): TreadleError {
  const message = `Job "${job}" is at-most-once: it can neither be snoozed nor wait for its children, since it would begin twice`
  return new TreadleError('DELIVERY_INVALID', message)
}
