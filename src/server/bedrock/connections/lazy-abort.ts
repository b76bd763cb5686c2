/** An abort controller whose signal is created on demand, because most requests never need it. */
export class LazyAbort {
  #controller: AbortController | undefined
  #reason: Error | undefined

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#reason !== undefined) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  get isAborted(): boolean {
    return this.#reason !== undefined
  }

  abort(reason: Error): void {
    if (this.#reason !== undefined) return
    this.#reason = reason
    this.#controller?.abort(reason)
  }
}
