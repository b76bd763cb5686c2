import { type Clock, pause, systemClock } from '../../../core/time/clock.ts'
import type { PostgresListening } from '../connections/client.ts'

export interface ListenerOptions {
  readonly channel: string
  readonly open: () => Promise<PostgresListening>
  /** Sends this text to the channel over another connection. */
  readonly notify: (text: string) => Promise<unknown>
  /** Called when another program has sent this text. */
  readonly onHeard: (text: string) => void
  /** Called once notifications arrive; earlier ones may have been missed. */
  readonly onListening: () => void
  /** Called when a notification did not arrive. */
  readonly onDeaf: () => void
}

/** How long a notification may take from one connection to the other. */
const longestWayMs = 5_000
const answerMs = 10_000
/** How often to check that the connection is still alive. */
const checkMs = 30_000
const firstPauseMs = 200
const longestPauseMs = 10_000
/** A pooler that does not pass notifications on is unlikely to change soon. */
const deafPauseMs = 600_000

/** Network timing does not use the queue's clock. */
const clock: Clock = systemClock

/** Keeps one connection listening on a channel and reconnects when it breaks. */
export class Listener {
  readonly #options: ListenerOptions
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  #isListening = false
  #onProof: ((text: string) => void) | undefined

  constructor(options: ListenerOptions) {
    this.#options = options
    this.#running = this.#run()
  }

  /** Whether notifications on the channel arrive, as far as is known. */
  get isListening(): boolean {
    return this.#isListening
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    for (let failures = 0; !signal.aborted; ) {
      const ending = await this.#listenOnce(signal)
      failures = ending === 'failed' ? failures + 1 : 0
      const backoffMs = Math.min(firstPauseMs * 2 ** failures, longestPauseMs) * (0.5 + clock.random() / 2)
      await pause(clock, ending === 'deaf' ? deafPauseMs : backoffMs, signal)
    }
  }

  /** Resolves when the connection breaks or turns out to be unusable. */
  async #listenOnce(signal: AbortSignal): Promise<'broken' | 'deaf' | 'failed'> {
    const { open, channel, onListening, onDeaf } = this.#options
    const broken = new AbortController()
    let client: PostgresListening | undefined
    try {
      client = await open()
      client.on('error', () => broken.abort())
      client.on('end', () => broken.abort())
      client.on('notification', ({ payload = '' }) => this.#hear(payload))
      const ended = AbortSignal.any([signal, broken.signal])
      await unlessAborted(client.connect(), signal)
      await unlessAborted(ask(client, `LISTEN ${channel}`), signal)
      if (!(await this.#isHeard(ended))) {
        if (ended.aborted) return 'broken'
        onDeaf()
        await unlessAborted(ask(client, `UNLISTEN ${channel}`), signal)
        return 'deaf'
      }
      this.#isListening = true
      onListening()
      while (!ended.aborted) {
        await pause(clock, checkMs, ended)
        if (!ended.aborted) await unlessAborted(ask(client, 'SELECT 1'), signal)
      }
      return 'broken'
    } catch {
      return this.#isListening ? 'broken' : 'failed'
    } finally {
      this.#isListening = false
      // Not awaited: the connection may never answer.
      void client?.end().catch(() => {})
    }
  }

  /** A pooler may give the connection away after each statement, so test whether a notification arrives. */
  async #isHeard(ended: AbortSignal): Promise<boolean> {
    const text = `proof ${clock.random()}`
    const arrived = new AbortController()
    this.#onProof = (heard) => {
      if (heard === text) arrived.abort()
    }
    try {
      await this.#options.notify(text)
      await pause(clock, longestWayMs, AbortSignal.any([ended, arrived.signal]))
      return arrived.signal.aborted
    } finally {
      this.#onProof = undefined
    }
  }

  #hear(text: string): void {
    if (text.startsWith('proof ')) this.#onProof?.(text)
    else this.#options.onHeard(text)
  }
}

function ask(client: PostgresListening, text: string): Promise<unknown> {
  return client.query({ text, query_timeout: answerMs })
}

/**
 * Rejects when the signal is aborted; the work itself continues. Leaves no listener on the signal, which may outlive many such
 * calls.
 */
export function unlessAborted<Answer>(work: Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
