import { hash, timingSafeEqual } from 'node:crypto'

const blockBytes = 64
const digestBytes = 32
const scratchBytes = 8_192
/** The digest as it travels: base64url without padding. */
const textLength = 43

/**
 * HMAC-SHA256 (RFC 2104) out of two one-shot hashes. Node's `createHmac` makes an object for every call, which takes half as
 * long again; every job is signed once and verified once, so that this is a large part of what a job costs.
 */
export class Mac {
  readonly #inner = Buffer.alloc(scratchBytes)
  readonly #outer = Buffer.alloc(blockBytes + digestBytes)

  constructor(secret: string) {
    pad(this.#inner, secret, 0x36)
    pad(this.#outer, secret, 0x5c)
  }

  digest(text: string): string {
    const inner = this.#innerFor(text)
    const length = blockBytes + inner.write(text, blockBytes)
    this.#outer.write(hash('sha256', inner.subarray(0, length), 'binary'), blockBytes, 'binary')
    return hash('sha256', this.#outer, 'base64url')
  }

  /** In a time that does not tell where the two differ. */
  matches(text: string, claimed: string): boolean {
    if (claimed.length !== textLength) return false
    actualBytes.write(this.digest(text), 'latin1')
    claimedBytes.write(claimed)
    return timingSafeEqual(actualBytes, claimedBytes)
  }

  #innerFor(text: string): Buffer {
    if (text.length * 3 <= scratchBytes - blockBytes) return this.#inner
    const large = Buffer.alloc(blockBytes + Buffer.byteLength(text))
    this.#inner.copy(large, 0, 0, blockBytes)
    return large
  }
}

function pad(block: Buffer, secret: string, value: number): void {
  const bytes = Buffer.from(secret)
  const key = bytes.length > blockBytes ? Buffer.from(hash('sha256', bytes, 'binary'), 'binary') : bytes
  for (let at = 0; at < blockBytes; at++) block[at] = (key[at] ?? 0) ^ value
}

const actualBytes = Buffer.alloc(textLength)
const claimedBytes = Buffer.alloc(textLength)
