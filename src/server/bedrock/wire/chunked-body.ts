import { ReceivedBytes } from './received-bytes.ts'

const lf = 0x0a
const maxLineBytes = 1_024
const maxTrailers = 100
const sizeLine = /^([0-9a-fA-F]{1,8})[ \t]*(?:;.*)?\r?$/

export type ChunkedState = 'done' | 'more' | 'too large' | 'malformed'

/** Reads a chunked body (`Transfer-Encoding: chunked`) from pieces of any size. */
export class ChunkedBody {
  readonly #maxBytes: number
  readonly #kept = new ReceivedBytes()
  #part: 'size' | 'chunk' | 'break' | 'trailers' = 'size'
  /** Bytes that are missing from the current chunk. */
  #missing = 0
  #trailers = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get heldBytes(): number {
    return this.#kept.heldBytes
  }

  get body(): Buffer {
    return this.#kept.buffer.subarray(this.#kept.start, this.#kept.end)
  }

  /** Consumes as many of the bytes as it can. */
  take(received: ReceivedBytes): ChunkedState {
    let state: ChunkedState = 'more'
    while (state === 'more' && received.length > 0) {
      if (this.#part === 'chunk') {
        this.#takeChunk(received)
        continue
      }
      const end = received.indexOf(lf, received.start)
      const length = (end < 0 ? received.end : end) - received.start
      if (length > maxLineBytes) return 'malformed'
      if (end < 0) return 'more'
      const line = received.buffer.toString('latin1', received.start, end)
      received.use(length + 1)
      state = this.#readLine(line)
    }
    return state
  }

  #takeChunk(received: ReceivedBytes): void {
    const length = Math.min(this.#missing, received.length)
    this.#kept.add(Buffer.from(received.buffer.subarray(received.start, received.start + length)))
    received.use(length)
    this.#missing -= length
    if (this.#missing === 0) this.#part = 'break'
  }

  #readLine(line: string): ChunkedState {
    const isBlank = line === '' || line === '\r'
    if (this.#part === 'break') {
      this.#part = 'size'
      return isBlank ? 'more' : 'malformed'
    }
    if (this.#part === 'trailers') {
      if (isBlank) return 'done'
      return ++this.#trailers > maxTrailers ? 'too large' : 'more'
    }
    const size = sizeLine.exec(line)?.[1]
    if (size === undefined) return 'malformed'
    this.#missing = Number.parseInt(size, 16)
    this.#part = this.#missing === 0 ? 'trailers' : 'chunk'
    return this.#kept.length + this.#missing > this.#maxBytes ? 'too large' : 'more'
  }
}
