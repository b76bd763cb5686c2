import { systemClock, type Timer } from '../../core/time/clock.ts'
import { Watchers } from '../../queue/claiming/watchers.ts'
import type { Watch } from '../../queue/contract/contract.ts'
import type { RedisClient } from './connections/client.ts'

/** So often a connection that only listens is asked whether it still hears, and so long it has to answer. */
const askEveryMs = 10_000
const answerWithinMs = 5_000

/**
 * Wakes the workers of this program at once, and those of others through the server. A connection listens while somebody watches. It
 * is a hint: one that is broken is made anew, meanwhile and in any case workers look for jobs now and then.
 */
export class RedisWaker {
  readonly #watchers = new Watchers()
  readonly #channel: string
  readonly #client: RedisClient
  #listener: RedisClient | undefined
  #isListening = false
  #asking: Timer | undefined

  constructor(client: RedisClient, channel: string) {
    this.#client = client
    this.#channel = channel
  }

  /** Those of this program. The others hear of it from the script that has made the work ready. */
  wake(): void {
    this.#watchers.notify()
  }

  watch(wake: () => void): Watch {
    const watch = this.#watchers.watch(wake)
    this.#listen()
    const isPush = () => this.#isListening
    return {
      get isPush() {
        return isPush()
      },
      close: () => {
        watch.close()
        if (this.#watchers.size === 0) this.#unlisten()
      },
    }
  }

  close(): void {
    this.#watchers.close()
    this.#unlisten()
  }

  #listen(): void {
    if (this.#listener !== undefined) return
    const listener = this.#client.duplicate()
    this.#listener = listener
    listener.on('error', () => {})
    listener.on('close', () => {
      if (this.#listener === listener) this.#isListening = false
    })
    listener.on('message', () => this.#watchers.notify())
    listener.on('ready', () => void this.#subscribe(listener))
    if (listener.status === 'wait') listener.connect().catch(() => {})
    this.#askLater(listener)
  }

  /** Whatever was said while nobody heard is looked for once. */
  async #subscribe(listener: RedisClient): Promise<void> {
    try {
      await listener.subscribe(this.#channel)
      if (this.#listener !== listener) return
      this.#isListening = true
      this.#watchers.notify()
    } catch {
      // The connection is made anew, and this with it.
    }
  }

  #askLater(listener: RedisClient): void {
    this.#asking = systemClock.timer(askEveryMs, () => void this.#ask(listener), { unref: true })
  }

  async #ask(listener: RedisClient): Promise<void> {
    if (this.#listener !== listener) return
    if (this.#isListening) {
      const late = systemClock.timer(answerWithinMs, () => {
        this.#isListening = false
        listener.disconnect(true)
      })
      await listener.call('PING', []).catch(() => {})
      late.cancel()
    }
    if (this.#listener === listener) this.#askLater(listener)
  }

  #unlisten(): void {
    const listener = this.#listener
    this.#listener = undefined
    this.#isListening = false
    this.#asking?.cancel()
    listener?.disconnect()
  }
}
