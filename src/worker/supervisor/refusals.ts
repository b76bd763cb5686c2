import type { ChildFailure } from './messages.ts'

/** Thrown if no process can start. */
export class StartRefused extends Error {
  readonly failure: ChildFailure

  constructor(failure: ChildFailure) {
    super(failure.message)
    this.failure = failure
  }
}

/** Number of consecutive processes that must report why they cannot start before the supervisor gives up. */
const most = 3
/** Transient errors. A mistake in the config or in a job file does not go away by itself. */
const passing: readonly string[] = ['DATABASE_BUSY', 'DATABASE_FAILED', 'DATABASE_UNREACHABLE']

/** Counts the processes that could not start. */
export class Refusals {
  #inARow = 0

  /** Returns whether there is no point in starting another process. */
  add(failure: ChildFailure | null): failure is ChildFailure {
    if (failure === null || passing.includes(failure.code)) return false
    this.#inARow++
    return this.#inARow >= most
  }

  /** Called when a process has started. */
  reset(): void {
    this.#inARow = 0
  }
}
