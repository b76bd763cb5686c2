import picocolors from 'picocolors'
import { visibleJson, withVisibleMarks } from '../../core/text/visible.ts'
import { type Column, tableText } from './table.ts'
import { folded } from './text.ts'

export type Colours = ReturnType<typeof picocolors.createColors>

/** The part of a terminal, file or pipe that is used. */
export interface Stream {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
}

export interface OutputOptions {
  readonly json: boolean
  readonly colour: boolean
  readonly stdout: Stream
  readonly stderr: Stream
}

/** Data goes to standard output, as text or JSON; everything else goes to standard error. */
export class Output {
  readonly json: boolean
  /** Colours for data; disabled unless standard output is a terminal. */
  readonly colours: Colours
  readonly #stdout: Stream
  readonly #stderr: Stream
  #progressShown = false

  constructor(options: OutputOptions) {
    this.json = options.json
    this.#stdout = options.stdout
    this.#stderr = options.stderr
    this.colours = picocolors.createColors(options.colour && options.stdout.isTTY === true && !options.json)
  }

  /** Prints one answer, as JSON or as text. The text is only built if needed. */
  answer(value: unknown, text: () => string): void {
    this.line(this.json ? JSON.stringify(value) : text())
  }

  line(text: string): void {
    this.clearProgress()
    this.#stdout.write(`${this.json ? visibleJson(text) : folded(withVisibleMarks(text), this.width)}\n`)
  }

  /** Writes data as it is. False if its reader is slower. */
  data(text: string): boolean {
    return this.#stdout.write(text) !== false
  }

  table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
    return tableText(columns, rows, this.width, this.colours.dim)
  }

  /** The width of the terminal; unlimited for a file or a pipe. */
  get width(): number {
    return this.#stdout.isTTY === true ? (this.#stdout.columns ?? 80) : Number.POSITIVE_INFINITY
  }

  /** Whether progress is visible, that is, on a terminal. */
  get showsProgress(): boolean {
    return this.#stderr.isTTY === true
  }

  /** Prints a remark that is not part of the data. */
  note(text: string): void {
    this.clearProgress()
    this.#stderr.write(`${withVisibleMarks(text)}\n`)
  }

  /** Replaces the last progress; shown only on a terminal. */
  progress(text: string): void {
    if (this.#stderr.isTTY !== true) return
    this.#stderr.write(`\r\u001b[2K${withVisibleMarks(text)}`)
    this.#progressShown = true
  }

  clearProgress(): void {
    if (!this.#progressShown) return
    this.#stderr.write('\r\u001b[2K')
    this.#progressShown = false
  }
}
