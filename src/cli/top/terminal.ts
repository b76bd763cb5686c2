/** The part of a terminal's input that is used. */
export interface KeySource {
  setRawMode?(isRaw: boolean): unknown
  setEncoding(encoding: 'utf8'): unknown
  on(name: 'data', listener: (text: string) => void): unknown
  off(name: 'data', listener: (text: string) => void): unknown
  resume(): unknown
  pause(): unknown
}

export interface Screen {
  write(text: string): unknown
  readonly columns?: number
  readonly rows?: number
  on(name: 'resize', listener: () => void): unknown
  off(name: 'resize', listener: () => void): unknown
}

export type Key = 'up' | 'down' | 'next' | 'previous' | 'enter' | 'back' | 'quit' | 'pause' | 'retry' | 'help'

const keys: Readonly<Record<string, Key>> = {
  '\u001b[A': 'up',
  '\u001bOA': 'up',
  k: 'up',
  '\u001b[B': 'down',
  '\u001bOB': 'down',
  j: 'down',
  '\t': 'next',
  '\u001b[C': 'next',
  '\u001bOC': 'next',
  l: 'next',
  '\u001b[Z': 'previous',
  '\u001b[D': 'previous',
  '\u001bOD': 'previous',
  h: 'previous',
  '\r': 'enter',
  '\n': 'enter',
  '\u001b': 'back',
  q: 'quit',
  Q: 'quit',
  '\u0003': 'quit',
  '\u0004': 'quit',
  p: 'pause',
  r: 'retry',
  '?': 'help',
}

/** One key as a terminal sends it; fast typing may send several at once. */
const oneKey = /\p{Cc}(?:\[[0-9;]*[A-Za-z~]|O[A-Z])?|[\s\S]/gu

export function keysOf(text: string): readonly Key[] {
  return [...text.matchAll(oneKey)].flatMap(([sent]) => keys[sent] ?? [])
}

const enter = '\u001b[?1049h\u001b[?25l'
const leave = '\u001b[?25h\u001b[?1049l'

/** A terminal that shows frames instead of lines, until it is restored to its previous state. */
export class Terminal {
  readonly #input: KeySource
  readonly #screen: Screen
  readonly #onKeys: (text: string) => void
  readonly #onResize: () => void
  #isTaken = false

  constructor(input: KeySource, screen: Screen, onKey: (key: Key) => void, onResize: () => void) {
    this.#input = input
    this.#screen = screen
    this.#onKeys = (text) => {
      for (const key of keysOf(text)) onKey(key)
    }
    this.#onResize = onResize
  }

  get columns(): number {
    return this.#screen.columns ?? 80
  }

  get rows(): number {
    return this.#screen.rows ?? 24
  }

  take(): void {
    this.#isTaken = true
    this.#input.setEncoding('utf8')
    this.#input.setRawMode?.(true)
    this.#input.on('data', this.#onKeys)
    this.#input.resume()
    this.#screen.on('resize', this.#onResize)
    this.#screen.write(enter)
  }

  /** Overwrites the last frame line by line, so that nothing flickers. */
  draw(lines: readonly string[]): void {
    if (!this.#isTaken) return
    const shown = lines.slice(0, this.rows)
    this.#screen.write(`\u001b[H${shown.map((line) => `${line}\u001b[0m\u001b[K`).join('\r\n')}\u001b[J`)
  }

  /** Restores the terminal. May be called more than once, and must be called however the program ends. */
  giveBack(): void {
    if (!this.#isTaken) return
    this.#isTaken = false
    this.#input.off('data', this.#onKeys)
    this.#screen.off('resize', this.#onResize)
    this.#input.setRawMode?.(false)
    this.#input.pause()
    this.#screen.write(leave)
  }
}
