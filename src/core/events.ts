import { messageOf } from './errors.ts'

/** A typed set of listeners. A listener that throws or rejects is reported and never disturbs the work that it listens to. */
export class Events<Map extends object> {
  readonly #listeners = new globalThis.Map<keyof Map, Set<(event: never) => void>>()
  readonly #followers = new globalThis.Map<keyof Map, number>()
  readonly #onThrow: (message: string) => void

  constructor(onThrow: (message: string) => void) {
    this.#onThrow = onThrow
  }

  /** Returns the function that stops listening; that tells whether it still did. */
  on<Name extends keyof Map>(name: Name, listener: (event: Map[Name]) => void): () => boolean {
    const listeners = this.#listeners.get(name) ?? new Set()
    // Wrapped, so that two parts of a program can listen with the same function and stop on their own.
    const entry = (event: Map[Name]) => listener(event)
    this.#listeners.set(name, listeners.add(entry))
    return () => listeners.delete(entry)
  }

  /** The same for a part of Treadle that goes by it: it does not count as somebody who is told. */
  follow<Name extends keyof Map>(name: Name, listener: (event: Map[Name]) => void): () => void {
    this.#followers.set(name, this.#followersOf(name) + 1)
    const stop = this.on(name, listener)
    return () => {
      if (stop()) this.#followers.set(name, this.#followersOf(name) - 1)
    }
  }

  /** Whether somebody is told of it. */
  isHeard(name: keyof Map): boolean {
    return (this.#listeners.get(name)?.size ?? 0) > this.#followersOf(name)
  }

  /** False lets a caller on the hot path skip making the event. */
  has(name: keyof Map): boolean {
    return (this.#listeners.get(name)?.size ?? 0) > 0
  }

  emit<Name extends keyof Map>(name: Name, event: Map[Name]): void {
    const listeners = this.#listeners.get(name)
    if (listeners === undefined) return
    for (const listener of listeners) {
      try {
        const answer = (listener as (event: Map[Name]) => unknown)(event)
        if (answer instanceof Promise) answer.catch((thrown: unknown) => this.#report(name, thrown))
      } catch (thrown) {
        this.#report(name, thrown)
      }
    }
  }

  #followersOf(name: keyof Map): number {
    return this.#followers.get(name) ?? 0
  }

  #report(name: keyof Map, thrown: unknown): void {
    this.#onThrow(`a listener of "${String(name)}" threw: ${messageOf(thrown)}`)
  }
}
