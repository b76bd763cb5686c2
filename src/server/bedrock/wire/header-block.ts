/** The part of a request before its body. */
export interface HeaderBlock {
  readonly method: string
  readonly verb: string
  readonly headers: Map<string, string>
}

/** Undefined if there are more headers than allowed. */
export function parseHeaderBlock(block: string, maxHeaders: number): HeaderBlock | undefined {
  const lines = new Lines(block)
  let method = lines.next() ?? ''
  const headers = new Map<string, string>()
  let last: string | undefined
  for (let line = lines.next(), count = 0; line !== undefined; line = lines.next()) {
    if (line === '') continue
    if (isFolded(line)) {
      if (last === undefined) method += line
      else headers.set(last, headers.get(last) + line)
      continue
    }
    if (++count > maxHeaders) return undefined
    const colon = line.indexOf(':')
    last = withoutSpaces(colon < 0 ? line : line.slice(0, colon)).toLowerCase()
    headers.set(last, colon < 0 ? '' : unescaped(withoutSpaces(line.slice(colon + 1))))
  }
  method = withoutSpaces(method)
  const space = method.indexOf(' ')
  return { method, verb: (space < 0 ? method : method.slice(0, space)).toLowerCase(), headers }
}

function isFolded(line: string): boolean {
  const first = line.charCodeAt(0)
  return first === 0x20 || first === 0x09
}

/** Strips spaces only: a tab is part of the value. */
function withoutSpaces(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && text.charCodeAt(start) === 0x20) start++
  while (end > start && text.charCodeAt(end - 1) === 0x20) end--
  return text.slice(start, end)
}

const escaped = /\\(?:u([0-9a-fA-F]{4})|([\s\S]))/g
const controls: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

function unescaped(value: string): string {
  if (!value.includes('\\')) return value
  return value.replace(escaped, (_, unit: string | undefined, character: string) =>
    unit === undefined ? (controls[character] ?? character) : String.fromCharCode(Number.parseInt(unit, 16)),
  )
}

/** Splits a text into lines that end in CRLF, LFCR, LF or CR. The text is searched only once, however many lines it has. */
class Lines {
  readonly #text: string
  #at = 0
  #lf: number
  #cr: number

  constructor(text: string) {
    this.#text = text
    this.#lf = this.#find('\n')
    this.#cr = this.#find('\r')
  }

  next(): string | undefined {
    if (this.#at > this.#text.length) return undefined
    if (this.#lf < this.#at) this.#lf = this.#find('\n')
    if (this.#cr < this.#at) this.#cr = this.#find('\r')
    const end = Math.min(this.#lf, this.#cr)
    const line = this.#text.slice(this.#at, end)
    this.#at = Math.abs(this.#lf - this.#cr) === 1 ? end + 2 : end + 1
    return line
  }

  #find(mark: string): number {
    const found = this.#text.indexOf(mark, this.#at)
    return found < 0 ? Number.POSITIVE_INFINITY : found
  }
}
