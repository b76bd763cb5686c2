import { StringDecoder } from 'node:string_decoder'

/** A line that never ends is cut, so that it does not fill the memory. */
const longestLine = 8_192

/** Cuts what a program prints into lines, as it comes. */
export class LineSplitter {
  readonly #onLine: (line: string) => void
  readonly #decoder = new StringDecoder('utf8')
  #rest = ''

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine
  }

  write(chunk: Buffer): void {
    const lines = (this.#rest + this.#decoder.write(chunk)).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#onLine(line.endsWith('\r') ? line.slice(0, -1) : line)
    while (this.#rest.length > longestLine) {
      this.#onLine(this.#rest.slice(0, longestLine))
      this.#rest = this.#rest.slice(longestLine)
    }
  }

  /** What was printed without a line break after it. */
  end(): void {
    const rest = this.#rest + this.#decoder.end()
    this.#rest = ''
    if (rest !== '') this.#onLine(rest)
  }
}
