/** Thrown by `ctx.snooze()`: not a failure, but the handler's wish to be called later. */
export class SnoozeSignal extends Error {
  readonly delayMs: number

  constructor(delayMs: number) {
    super('The job was snoozed')
    this.delayMs = delayMs
  }
}
