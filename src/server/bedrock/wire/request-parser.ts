import type { BedrockLimits } from '../limits.ts'
import { ChunkedBody, type ChunkedState } from './chunked-body.ts'
import { type HeaderBlock, parseHeaderBlock } from './header-block.ts'
import { ReceivedBytes } from './received-bytes.ts'
import type { BedrockRequest } from './request.ts'

const lf = 0x0a
const cr = 0x0d
const noBody = Buffer.alloc(0)

/** Why no more requests can be read from a connection. */
export type Unreadable = 'too large' | 'malformed'

type Limits = Pick<BedrockLimits, 'headerBytes' | 'headers' | 'bodyBytes'>

/**
 * Parses requests from bytes that arrive in pieces of any size. Only what a header declares is a body: anything else after the
 * blank line begins the next request, so that requests without a length can be sent one after the other.
 */
export class RequestParser {
  /** May be changed between two calls of `next`. After `too large`, raise the limits and call it again. */
  limits: Limits
  readonly #received = new ReceivedBytes()
  /** How much of the received data is known not to contain the end of the headers. */
  #scanned = 0
  #head: HeaderBlock | undefined
  #headBytes = 0
  #bodyBytes = 0
  #chunked: ChunkedBody | undefined

  constructor(limits: Limits) {
    this.limits = limits
  }

  add(piece: Buffer): void {
    this.#received.add(piece)
  }

  /** Discards what has arrived: nothing more will be read. */
  forget(): void {
    this.#received.use(this.#received.length)
    this.#head = undefined
    this.#chunked = undefined
  }

  /** Number of bytes received that no returned request has consumed. */
  get waitingBytes(): number {
    return this.#received.length
  }

  /** The total memory in use. */
  get heldBytes(): number {
    return this.#received.heldBytes + (this.#chunked?.heldBytes ?? 0) + (this.#head === undefined ? 0 : this.#headBytes)
  }

  /** The headers of the incomplete request, as far as whole lines have arrived. */
  get begunHeaders(): ReadonlyMap<string, string> {
    if (this.#head !== undefined) return this.#head.headers
    const { buffer, start, end } = this.#received
    const arrived = buffer.toString('utf8', start, Math.min(end, start + this.limits.headerBytes))
    return parseHeaderBlock(arrived.slice(0, arrived.lastIndexOf('\n') + 1), this.limits.headers)?.headers ?? new Map()
  }

  /** Whether a request has begun and is not complete, after `next` has found none. */
  get isWithinRequest(): boolean {
    return this.#head !== undefined || this.#received.length > 0
  }

  /** The next complete request; undefined if more bytes are needed. */
  next(): BedrockRequest | Unreadable | undefined {
    if (this.#head === undefined) {
      const block = this.#takeHead()
      if (block === undefined || typeof block === 'string') return block
      const problem = this.#expectBody(block)
      if (problem !== undefined) return problem
    }
    return this.#chunked === undefined ? this.#takeBody() : this.#takeChunks(this.#chunked)
  }

  #takeHead(): HeaderBlock | Unreadable | undefined {
    const received = this.#received
    if (this.#scanned === 0) skipBlank(received)
    // Reject anything that is not text, such as the first bytes of TLS, without waiting for more or executing what follows.
    if (received.length > 0 && !isLetter(received.buffer[received.start] as number)) return 'malformed'
    const end = this.#headEnd()
    const length = (end ?? received.end) - received.start
    if (length > this.limits.headerBytes) return 'too large'
    if (end === undefined) return undefined
    const block = received.buffer.toString('utf8', received.start, end - 1)
    received.use(length)
    this.#scanned = 0
    this.#headBytes = length
    const parsed = parseHeaderBlock(block, this.limits.headers)
    if (parsed === undefined) return 'too large'
    return isReadable(parsed) ? parsed : 'malformed'
  }

  /** Position of the first byte after the blank line. Only LF LF and CRLF CRLF make a blank line. */
  #headEnd(): number | undefined {
    const { buffer, start, end } = this.#received
    for (let at = start + this.#scanned; ; at++) {
      at = this.#received.indexOf(lf, at)
      if (at < 0 || at + 1 >= end) break
      if (buffer[at + 1] === lf) return at + 2
      if (buffer[at + 1] === cr && buffer[at - 1] === cr && at > start) {
        if (at + 2 >= end) break
        if (buffer[at + 2] === lf) return at + 3
      }
    }
    // A later piece may complete these: `
    this.#scanned = Math.max(end - start - 3, 0)
    return undefined
  }

  #expectBody(head: HeaderBlock): Unreadable | undefined {
    const encoding = head.headers.get('transfer-encoding')
    const length = head.headers.get('content-length')
    this.#head = head
    this.#bodyBytes = 0
    if (encoding !== undefined && encoding.toLowerCase() === 'chunked') {
      this.#chunked = new ChunkedBody(this.limits.bodyBytes)
      return undefined
    }
    if (length === undefined) return undefined
    if (!/^\d{1,15}$/.test(length)) return 'malformed'
    this.#bodyBytes = Number(length)
    return undefined
  }

  #takeBody(): BedrockRequest | Unreadable | undefined {
    const received = this.#received
    if (this.#bodyBytes > this.limits.bodyBytes) return 'too large'
    if (received.length < this.#bodyBytes) return undefined
    const body = this.#bodyBytes === 0 ? noBody : received.buffer.subarray(received.start, received.start + this.#bodyBytes)
    received.use(this.#bodyBytes)
    return this.#complete(body)
  }

  #takeChunks(chunked: ChunkedBody): BedrockRequest | Unreadable | undefined {
    const state: ChunkedState = chunked.take(this.#received)
    if (state === 'more') return undefined
    return state === 'done' ? this.#complete(chunked.body) : state
  }

  #complete(body: Buffer): BedrockRequest {
    const { method, verb, headers } = this.#head as HeaderBlock
    this.#head = undefined
    this.#chunked = undefined
    return { method, verb, headers, body, bytes: this.#headBytes + body.length }
  }
}

/** Blank lines before a request and spaces before its first word are ignored. */
function skipBlank(received: ReceivedBytes): void {
  const { buffer, start, end } = received
  let at = start
  while (at < end && isBlank(buffer[at] as number)) at++
  received.use(at - start)
}

function isLetter(byte: number): boolean {
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x7a
}

/** A method is a line of printable ASCII and tabs. Only the statement of a `Query` may contain other characters. */
function isReadable({ method, verb }: HeaderBlock): boolean {
  const isStatement = verb.startsWith('query')
  return isStatement ? statement.test(method) : plainLine.test(method)
}

const plainLine = /^[\x20-\x7e\t]*$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to refuse
const statement = /^query[^\0-\x08\x0a-\x1f\x7f\ufffd]*$/i

function isBlank(byte: number): boolean {
  return byte === lf || byte === cr || byte === 0x20 || byte === 0x09
}
