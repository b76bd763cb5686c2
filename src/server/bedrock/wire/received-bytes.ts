const nothing = Buffer.alloc(0)

/**
 * Bytes that have arrived and are not consumed yet: `buffer` from `start` to `end`. A piece that arrives when all others are
 * consumed is not copied. One that has to be joined to others is copied a bounded number of times, however small the pieces are.
 */
export class ReceivedBytes {
  buffer: Buffer = nothing
  start = 0
  end = 0
  #isOwn = false

  get length(): number {
    return this.end - this.start
  }

  /** The memory that they take, which may be more than their length. */
  get heldBytes(): number {
    return this.#isOwn ? this.buffer.length : this.length
  }

  /** Position of the byte in `buffer`, at or after `from`; -1 if it has not arrived. */
  indexOf(byte: number, from: number): number {
    // Do not search past the end: that part would be searched again with each piece.
    const arrived = this.end === this.buffer.length ? this.buffer : this.buffer.subarray(0, this.end)
    return arrived.indexOf(byte, from)
  }

  add(piece: Buffer): void {
    if (this.start === this.end) {
      this.buffer = piece
      this.start = 0
      this.end = piece.length
      this.#isOwn = false
      return
    }
    if (!this.#isOwn || this.end + piece.length > this.buffer.length) this.#move(piece.length)
    this.end += piece.copy(this.buffer, this.end)
  }

  use(count: number): void {
    this.start += count
    if (this.start < this.end) return
    this.buffer = nothing
    this.start = 0
    this.end = 0
    this.#isOwn = false
  }

  #move(more: number): void {
    const moved = Buffer.allocUnsafeSlow(2 * (this.length + more))
    this.end = this.buffer.copy(moved, 0, this.start, this.end)
    this.start = 0
    this.buffer = moved
    this.#isOwn = true
  }
}
