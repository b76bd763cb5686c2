import { pause, systemClock, type Timer } from '../../core/time/clock.ts'
import { Watchers } from '../../queue/backend/watchers.ts'
import type { Watch } from '../../queue/contract/contract.ts'
import type { RedisClient } from './connections/client.ts'
import { letProcessExit } from './connections/connection.ts'

/** How often to check that a listening connection still works, and how long it may take to answer. */
interface ListenerCheck {
  readonly everyMs: number
  readonly answerWithinMs: number
}

const usualCheck: ListenerCheck = { everyMs: 10_000, answerWithinMs: 5_000 }

/**
 * Wakes this program's workers at once, and those of other programs through the server. A connection listens while there are
 * watchers. Notifications are only hints: a broken connection is reopened, and workers poll in any case.
 */
export class RedisWaker {
  readonly #watchers = new Watchers()
  readonly #channel: string
  readonly #client: RedisClient
  readonly #check: ListenerCheck
  #listener: RedisClient | undefined
  #isListening = false
  /** Counts the connections of the listener that have ended. */
  #connections = 0
  #asking: Timer | undefined

  constructor(client: RedisClient, channel: string, check = usualCheck) {
    this.#client = client
    this.#channel = channel
    this.#check = check
  }

  /** Wakes this program's workers. The others are notified by the script that made the work ready. */
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
    // If the driver subscribed by itself and had lost the right to it, it would reject a promise that nobody sees. A cluster client
    // takes other arguments, ignores this one, and looks after its own subscriptions.
    const listener = this.#client.duplicate({ autoResubscribe: false })
    this.#listener = listener
    letProcessExit(listener)
    listener.on('error', () => {})
    listener.on('close', () => {
      if (this.#listener !== listener) return
      this.#isListening = false
      this.#connections++
    })
    listener.on('message', () => this.#watchers.notify())
    listener.on('ready', () => void this.#subscribe(listener))
    if (listener.status === 'wait') listener.connect().catch(() => {})
    this.#askLater(listener)
  }

  /** Also wakes the watchers once, because earlier notifications may have been missed. */
  async #subscribe(listener: RedisClient): Promise<void> {
    try {
      await listener.subscribe(this.#channel)
      if (this.#listener !== listener) return
      this.#isListening = true
      this.#watchers.notify()
    } catch {
      // Subscribes again when the connection is reopened.
    }
  }

  #askLater(listener: RedisClient): void {
    this.#asking = systemClock.timer(this.#check.everyMs, () => void this.#ask(listener), { unref: true })
  }

  async #ask(listener: RedisClient): Promise<void> {
    if (this.#listener !== listener) return
    if (this.#isListening) {
      const asked = this.#connections
      const isSilent = !(await answers(listener, this.#check.answerWithinMs)) && this.#connections === asked
      if (isSilent && this.#listener === listener) {
        this.#isListening = false
        listener.disconnect(true)
      }
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

/** The driver drops a call without a word if its connection ends, so the answer may never come. */
async function answers(listener: RedisClient, withinMs: number): Promise<boolean> {
  let hasAnswered = false
  const waiting = new AbortController()
  const onAnswer = () => {
    hasAnswered = true
    waiting.abort()
  }
  listener.call('PING', []).then(onAnswer, onAnswer)
  await pause(systemClock, withinMs, waiting.signal)
  return hasAnswered
}
