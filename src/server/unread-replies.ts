interface Unread {
  readonly bytes: number
  /** Closes the connection. */
  readonly drop: () => void
}

/**
 * Replies that wait for their clients to read them. If they exceed the limit, the connections that have waited the longest are
 * closed.
 */
export class UnreadReplies {
  readonly #maxBytes: number
  readonly #open = new Set<Unread>()
  #total = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get total(): number {
    return this.#total
  }

  /** Returns a function to call when the reply was read or its connection is closed. */
  add(bytes: number, drop: () => void): () => void {
    const unread: Unread = { bytes, drop }
    const remove = () => {
      if (this.#open.delete(unread)) this.#total -= bytes
    }
    this.#open.add(unread)
    this.#total += bytes
    for (const oldest of this.#open) {
      if (this.#total <= this.#maxBytes) break
      this.#open.delete(oldest)
      this.#total -= oldest.bytes
      oldest.drop()
    }
    return remove
  }
}
