/** The answer to a call. It knows whether anybody has waited for it. */
class Answer<Value> extends Promise<Value> {
  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }

  isAwaited = false

  // biome-ignore lint/suspicious/noThenProperty: `await` and all methods of a promise go through `then`.
  override then<Done = Value, Failed = never>(
    onDone?: ((value: Value) => Done | PromiseLike<Done>) | null,
    onFailed?: ((thrown: unknown) => Failed | PromiseLike<Failed>) | null,
  ): Promise<Done | Failed> {
    this.isAwaited = true
    return super.then(onDone, onFailed)
  }
}

interface Failure {
  readonly answer: Answer<unknown>
  readonly thrown: unknown
}

/**
 * The calls of a run's context. Its handler may return without waiting for them, and an error that nobody handles would end the
 * process with all other jobs, also if it comes while the handler is still running.
 */
export class OpenCalls {
  readonly #open = new Set<Promise<void>>()
  #failed: Failure[] = []
  #onLate: ((thrown: unknown) => void) | undefined

  /** Whether all calls have been answered, and all failures noticed. */
  get isEmpty(): boolean {
    return this.#open.size === 0 && this.#unnoticed === undefined
  }

  /** Returns the promise to be given to the handler. */
  add<Value>(call: Promise<Value>): Promise<Value> {
    const answer = new Answer<Value>((resolve, reject) => void call.then(resolve, reject))
    Promise.prototype.then.call(answer, undefined, () => {})
    const ended: Promise<void> = call.then(
      () => void this.#open.delete(ended),
      (thrown) => {
        this.#open.delete(ended)
        this.#fail({ answer, thrown })
      },
    )
    this.#open.add(ended)
    return answer
  }

  /** Resolves when all have been answered, and throws what the first one failed with that nobody has waited for. */
  async answered(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open)
    const failure = this.#unnoticed
    this.#failed = []
    if (failure !== undefined) throw failure.thrown
  }

  /** The run is over: failures that nobody waits for are only reported, also later ones. */
  leave(onFailed: (thrown: unknown) => void): void {
    this.#onLate = onFailed
    for (const failure of this.#failed.splice(0)) this.#fail(failure)
  }

  #fail(failure: Failure): void {
    if (this.#onLate === undefined) this.#failed.push(failure)
    else if (!failure.answer.isAwaited) this.#onLate(failure.thrown)
  }

  get #unnoticed(): Failure | undefined {
    return this.#failed.find(({ answer }) => !answer.isAwaited)
  }
}
