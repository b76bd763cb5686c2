import { type Clock, pause, stopwatch, systemClock } from '../../../core/time/clock.ts'
import { closedError } from '../../../queue/backend/calls.ts'
import { type Address, type Patience, Session } from './session.ts'

const firstPauseMs = 50
const longestPauseMs = 1_000

/** Keeps a session to the server: opened on demand, and replaced when it is lost. */
export class Link {
  readonly #address: Address
  readonly #patience: Patience
  readonly #clock: Clock
  readonly #closing = new AbortController()
  #session: Session | undefined
  #opening: Promise<Session> | undefined

  /** Network timing does not use the queue's clock, which tests may move by hand. */
  constructor(address: Address, patience: Patience, clock: Clock = systemClock) {
    this.#address = address
    this.#patience = patience
    this.#clock = clock
  }

  /** Undefined while there is none. */
  get current(): Session | undefined {
    return this.#session?.isOpen ? this.#session : undefined
  }

  /** Retries for as long as one command may take if the server does not answer. */
  async session(): Promise<Session> {
    const current = this.current
    if (current !== undefined) return current
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  /** Opens the first session. Fails at once if the server is unreachable. */
  async connect(): Promise<Session> {
    this.#session = await Session.open(this.#address, this.#patience, this.#clock)
    return this.#session
  }

  close(): void {
    this.#closing.abort()
    this.#session?.destroy()
  }

  async #open(): Promise<Session> {
    const elapsedMs = stopwatch()
    const { timeoutMs } = this.#patience
    for (let failures = 0; ; failures++) {
      this.#refuseClosed()
      try {
        const session = await Session.open(this.#address, this.#patience, this.#clock)
        if (this.#closing.signal.aborted) session.destroy()
        this.#refuseClosed()
        this.#session = session
        return session
      } catch (thrown) {
        const pauseMs = Math.min(firstPauseMs * 2 ** failures, longestPauseMs)
        if (elapsedMs() + pauseMs > timeoutMs) throw thrown
        await pause(this.#clock, pauseMs, this.#closing.signal)
      }
    }
  }

  #refuseClosed(): void {
    if (this.#closing.signal.aborted) throw closedError('beanstalkd')
  }
}
