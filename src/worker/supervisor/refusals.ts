import type { ChildFailure } from './messages.ts'

/** Thrown where no process can start. */
export class StartRefused extends Error {
  readonly failure: ChildFailure

  constructor(failure: ChildFailure) {
    super(failure.message)
    this.failure = failure
  }
}

/** So many processes in a row that say why they cannot start are enough to believe it. */
const most = 3
/** These may be over by the next start; a mistake in the config or in a job file does not go away by itself. */
const passing: readonly string[] = ['DATABASE_BUSY', 'DATABASE_FAILED', 'DATABASE_UNREACHABLE']

/** Counts the processes that could not start. */
export class Refusals {
  #inARow = 0

  /** True when there is no point in starting another one. */
  add(failure: ChildFailure | null): failure is ChildFailure {
    if (failure === null || passing.includes(failure.code)) return false
    this.#inARow++
    return this.#inARow >= most
  }

  /** One has started. */
  reset(): void {
    this.#inARow = 0
  }
}
