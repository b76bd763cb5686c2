import { messageOf } from './errors.ts'

/** Receives all events while it is open, after the listeners. It must neither throw nor block. */
export interface EventTap<Map extends object, Subject> {
  /** Checked for each event: while it is false, no event needs to be created for it. */
  readonly isOpen: boolean
  hear<Name extends keyof Map>(name: Name, event: Map[Name], subject: Subject | undefined): void
}

interface Shared<Map> {
  readonly listeners: globalThis.Map<keyof Map, Set<(event: never, subject: never) => void>>
  readonly followers: globalThis.Map<keyof Map, number>
}

/**
 * A typed set of listeners. A listener that throws or rejects is reported and never disturbs the work. An event may come with its
 * subject, from which a listener can derive details that the event itself does not contain.
 */
export class Events<Map extends object, Subject = unknown> {
  /** Receives everything emitted here, but not what is emitted on instances created by `beside()`. */
  tap: EventTap<Map, Subject> | null = null
  readonly #shared: Shared<Map>
  readonly #listeners: Shared<Map>['listeners']
  readonly #followers: Shared<Map>['followers']
  readonly #onThrow: (message: string) => void

  constructor(onThrow: (message: string) => void, beside?: Events<Map, Subject>) {
    this.#onThrow = onThrow
    this.#shared = beside === undefined ? { listeners: new globalThis.Map(), followers: new globalThis.Map() } : beside.#shared
    this.#listeners = this.#shared.listeners
    this.#followers = this.#shared.followers
  }

  /** Shares the listeners, but has a tap of its own. */
  beside(): Events<Map, Subject> {
    return new Events(this.#onThrow, this)
  }

  /** Returns a function that stops listening, and returns whether it was still listening. */
  on<Name extends keyof Map>(name: Name, listener: (event: Map[Name], subject: Subject | undefined) => void): () => boolean {
    const listeners = this.#listeners.get(name) ?? new Set()
    // Wrapped, so that two parts of a program can listen with the same function and stop independently.
    const entry = (event: Map[Name], subject: Subject | undefined) => listener(event, subject)
    this.#listeners.set(name, listeners.add(entry))
    return () => listeners.delete(entry)
  }

  /** Like `on`, for internal use by Treadle; does not count in `isHeard`. */
  follow<Name extends keyof Map>(name: Name, listener: (event: Map[Name]) => void): () => void {
    this.#followers.set(name, this.#followersOf(name) + 1)
    const stop = this.on(name, listener)
    return () => {
      if (stop()) this.#followers.set(name, this.#followersOf(name) - 1)
    }
  }

  /** Whether the program itself listens to this event. */
  isHeard(name: keyof Map): boolean {
    return (this.#listeners.get(name)?.size ?? 0) > this.#followersOf(name)
  }

  /** If false, a caller on the hot path can skip creating the event. */
  has(name: keyof Map): boolean {
    return (this.#listeners.get(name)?.size ?? 0) > 0 || this.tap?.isOpen === true
  }

  emit<Name extends keyof Map>(name: Name, event: Map[Name], subject?: Subject): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      try {
        const answer = (listener as (event: Map[Name], subject: Subject | undefined) => unknown)(event, subject)
        if (answer instanceof Promise) answer.catch((thrown: unknown) => this.#report(name, thrown))
      } catch (thrown) {
        this.#report(name, thrown)
      }
    }
    if (this.tap?.isOpen === true) this.tap.hear(name, event, subject)
  }

  #followersOf(name: keyof Map): number {
    return this.#followers.get(name) ?? 0
  }

  #report(name: keyof Map, thrown: unknown): void {
    this.#onThrow(`a listener of "${String(name)}" threw: ${messageOf(thrown)}`)
  }
}
