/** The value of a header; undefined ones are left out. */
export type BedrockHeaderValue = string | number | boolean | undefined

export type BedrockHeaders = Readonly<Record<string, BedrockHeaderValue>>

/** A response of a server that speaks the Bedrock protocol. */
export interface BedrockResponse {
  readonly status: number
  readonly reason: string
  /** Names are in lower case. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

export function requestText(method: string, headers: BedrockHeaders): string {
  let text = `${method}\r\n`
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) text += `${name}: ${escaped(String(value))}\r\n`
  }
  return `${text}Content-Length: 0\r\n\r\n`
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r' }

/** The server removes backslashes and trims the spaces around a value. */
function escaped(value: string): string {
  return value.replaceAll(/[\\\n\r]/g, (found) => escapes[found] as string).replaceAll(/^ | $/g, '\\u0020')
}

const blankLine = '\r\n\r\n'
const statusLine = /^(?:HTTP\/1\.1 )?(\d{3}) ?(.*)$/

/** Reads responses, one after the other, from the bytes of a connection. */
export class ResponseReader {
  #parts: Buffer[] = []
  #bytes = 0
  /** How many bytes must have arrived before parsing is tried again. */
  #needed = 0

  /** The response that this piece completes, if any. Throws if the bytes are not a response. */
  add(piece: Buffer): BedrockResponse | undefined {
    this.#parts.push(piece)
    this.#bytes += piece.length
    if (this.#bytes < this.#needed) return undefined
    const bytes = this.#parts.length === 1 ? piece : Buffer.concat(this.#parts, this.#bytes)
    this.#parts = [bytes]
    const end = bytes.indexOf(blankLine)
    if (end < 0) {
      if (bytes.length > maxHeadBytes) throw new Error('the reply has no end of its headers')
      return undefined
    }
    return this.#complete(bytes, end)
  }

  #complete(bytes: Buffer, end: number): BedrockResponse | undefined {
    const [first = '', ...lines] = bytes.toString('utf8', 0, end).split('\r\n')
    const [, status, reason = ''] = statusLine.exec(first) ?? []
    const headers = new Map(lines.map(headerOf))
    const length = Number(headers.get('content-length') ?? Number.NaN)
    if (status === undefined || !Number.isSafeInteger(length) || length < 0)
      throw new Error('what answers speaks another protocol')
    const bodyStart = end + blankLine.length
    this.#needed = bodyStart + length
    if (bytes.length < this.#needed) return undefined
    const body = bytes.toString('utf8', bodyStart, this.#needed)
    if (bytes.length > this.#needed) throw new Error('more was answered than asked')
    this.#parts = []
    this.#bytes = 0
    this.#needed = 0
    return { status: Number(status), reason, headers, body }
  }
}

const maxHeadBytes = 1024 * 1024

function headerOf(line: string): [string, string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()]
}
