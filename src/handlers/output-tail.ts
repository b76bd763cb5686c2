/** Keeps the last bytes of a stream of any length. */
export class OutputTail {
  readonly #ring: Buffer
  #received = 0

  constructor(maxBytes: number) {
    this.#ring = Buffer.allocUnsafe(maxBytes)
  }

  /** Total number of bytes received. */
  get received(): number {
    return this.#received
  }

  append(chunk: Buffer): void {
    const kept = chunk.subarray(Math.max(0, chunk.length - this.#ring.length))
    const at = (this.#received + chunk.length - kept.length) % this.#ring.length
    const untilEnd = kept.copy(this.#ring, at)
    kept.copy(this.#ring, 0, untilEnd)
    this.#received += chunk.length
  }

  text(): string {
    if (this.#received <= this.#ring.length) return this.#ring.toString('utf8', 0, this.#received)
    const start = this.#received % this.#ring.length
    const bytes = Buffer.concat([this.#ring.subarray(start), this.#ring.subarray(0, start)])
    return bytes.toString('utf8', firstCharacter(bytes))
  }
}

/** Skips the rest of a character that was cut in half. */
function firstCharacter(bytes: Buffer): number {
  let at = 0
  while (at < 3 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at++
  return at
}
