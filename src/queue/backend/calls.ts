import { TreadleError } from '../../core/errors.ts'

/** The calls of a backend. Once it is closed, no new call begins, but those that began earlier are still answered. */
export class BackendCalls {
  readonly #kind: string
  readonly #underWay = new Set<Promise<unknown>>()
  #isClosed = false

  constructor(kind: string) {
    this.#kind = kind
  }

  refuseClosed(): void {
    if (this.#isClosed) throw closedError(this.#kind)
  }

  async run<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    this.refuseClosed()
    const call = work()
    this.#underWay.add(call)
    try {
      return await call
    } finally {
      this.#underWay.delete(call)
    }
  }

  /** Resolves when the last call has been answered. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled([...this.#underWay])
  }
}

export function closedError(kind: string): TreadleError {
  return new TreadleError('BACKEND_CLOSED', `The ${kind} queue was closed. Open a new instance.`)
}
