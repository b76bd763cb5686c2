import { StringDecoder } from 'node:string_decoder'

/** Maximum length of a line; longer ones are cut to limit memory use. */
const longestLine = 8_192

/** Splits a program's output into lines as it arrives. */
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

  /** Emits the last line if it has no line break. */
  end(): void {
    const rest = this.#rest + this.#decoder.end()
    this.#rest = ''
    if (rest !== '') this.#onLine(rest)
  }
}
