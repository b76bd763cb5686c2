import type { Duplex } from 'node:stream'
import { deserialize, serialize } from 'node:v8'
import { TreadleError } from '../../core/errors.ts'

/**
 * Messages through a pipe: each is sent as its length followed by its bytes. Node's own IPC channel is not used, because its
 * reader throws in the worker on every unexpected byte, and because any handler could use it too.
 */
export interface FrameEvents {
  /** Undefined if the bytes are not a valid message. */
  onValue(value: unknown): void
  /** The stream cannot be read any further. */
  onBroken(why: string): void
  onEnd(): void
}

/** File descriptor of the pipe in an isolated process. */
export const isolatePipe = 3
const headerBytes = 4
/** Maximum size of a frame. Payloads and results are far smaller. */
const mostFrameBytes = 64 * 1024 * 1024

/** Throws if the value cannot be cloned or is too large. */
export function writeFrame(pipe: Duplex, value: unknown): void {
  const bytes = serialize(value)
  if (bytes.length > mostFrameBytes) {
    const message = `what a handler sends or returns must be smaller than ${mostFrameBytes} bytes, got ${bytes.length}`
    throw new TreadleError('PAYLOAD_TOO_LARGE', message)
  }
  const header = Buffer.alloc(headerBytes)
  header.writeUInt32BE(bytes.length)
  if (pipe.writable) pipe.write(Buffer.concat([header, bytes]))
}

export function readFrames(pipe: Duplex, events: FrameEvents): void {
  const reader = new FrameReader()
  let isBroken = false
  pipe.on('data', (chunk: Buffer) => {
    reader.add(chunk)
    for (let next = reader.next(); next !== undefined && !isBroken; next = reader.next()) {
      if (next !== 'too large') events.onValue(parsedBytes(next))
      else {
        isBroken = true
        events.onBroken(`sent a message of more than ${mostFrameBytes} bytes`)
      }
    }
  })
  // Writes to a closed pipe are lost. Its end is reported elsewhere.
  pipe.on('error', () => {})
  pipe.once('close', () => events.onEnd())
}

class FrameReader {
  #chunks: Buffer[] = []
  #length = 0

  add(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#length += chunk.length
  }

  next(): Buffer | 'too large' | undefined {
    if (this.#length < headerBytes) return undefined
    const size = this.#joined(headerBytes).readUInt32BE()
    if (size > mostFrameBytes) return 'too large'
    if (this.#length < headerBytes + size) return undefined
    const first = this.#joined(headerBytes + size)
    const rest = first.subarray(headerBytes + size)
    this.#chunks = [...(rest.length === 0 ? [] : [rest]), ...this.#chunks.slice(1)]
    this.#length -= headerBytes + size
    return first.subarray(headerBytes, headerBytes + size)
  }

  /** Joins the chunks if the first one is shorter than this. */
  #joined(bytes: number): Buffer {
    const [first] = this.#chunks
    if (first !== undefined && first.length >= bytes) return first
    const all = Buffer.concat(this.#chunks)
    this.#chunks = [all]
    return all
  }
}

function parsedBytes(bytes: Buffer): unknown {
  try {
    return deserialize(bytes)
  } catch {
    return undefined
  }
}
