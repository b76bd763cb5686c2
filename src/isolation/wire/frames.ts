import type { Duplex } from 'node:stream'
import { deserialize, serialize } from 'node:v8'
import { TreadleError } from '../../core/errors.ts'

/**
 * Messages through a pipe: the length of each, then its bytes. Node's own channel between processes is not used, because its reader
 * throws into the program that reads for every byte that is not what it expects, and because any handler could speak through it.
 */
export interface FrameEvents {
  /** Undefined for bytes that are no message. */
  onValue(value: unknown): void
  /** It cannot be read any further. */
  onBroken(why: string): void
  onEnd(): void
}

/** The number of the pipe among the open files of an isolated process. */
export const isolatePipe = 3
const headerBytes = 4
/** Payloads and results are far below it. */
export const mostFrameBytes = 64 * 1024 * 1024

/** Throws for what cannot be copied, and for what is too large to be sent. */
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
  // What is written to one that has ended is lost, and its end is told elsewhere.
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

  /** The chunks in one, where the first does not hold so many bytes. */
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
