import type { BedrockReply } from '../wire/reply.ts'

interface Delivery {
  readonly undelivered: () => void
  /** When the operating system accepted it; undefined until then. */
  takenAt: number | undefined
}

/**
 * The replies of one connection whose loss matters. The operating system may accept bytes for a client that is already gone, so
 * each reply stays in doubt for a while.
 */
export class Deliveries {
  readonly #doubtMs: number
  readonly #now: () => number
  #open: Delivery[] = []
  #isHeld = false

  constructor(doubtMs: number, now: () => number) {
    this.#doubtMs = doubtMs
    this.#now = now
  }

  /** Returns a function to call with the result of the write; undefined if the loss of the reply does not matter. */
  begin(reply: BedrockReply): ((failed: boolean) => void) | undefined {
    if (reply.undelivered === undefined) return undefined
    const delivery: Delivery = { undelivered: reply.undelivered, takenAt: undefined }
    this.#forgetOld()
    this.#open.push(delivery)
    return (failed) => {
      if (failed) this.#lose(delivery)
      else delivery.takenAt = this.#now()
    }
  }

  /** Whether any reply is in doubt. Those in doubt stay so until it is known how the connection ends. */
  hold(): boolean {
    this.#forgetOld()
    this.#isHeld = true
    return this.#open.length > 0
  }

  /** The connection broke: replies in doubt count as undelivered. */
  lost(): void {
    this.#forgetOld()
    for (const delivery of [...this.#open]) this.#lose(delivery)
  }

  /** The connection closed cleanly: only replies that the operating system never accepted are undelivered. */
  ended(): void {
    for (const delivery of [...this.#open]) if (delivery.takenAt === undefined) this.#lose(delivery)
    this.#open = []
  }

  #forgetOld(): void {
    if (this.#isHeld || this.#open.length === 0) return
    const since = this.#now() - this.#doubtMs
    this.#open = this.#open.filter(({ takenAt }) => takenAt === undefined || takenAt >= since)
  }

  #lose(delivery: Delivery): void {
    const at = this.#open.indexOf(delivery)
    if (at < 0) return
    this.#open.splice(at, 1)
    delivery.undelivered()
  }
}
