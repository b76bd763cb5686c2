import picocolors from 'picocolors'
import { visibleJson, withVisibleMarks } from '../../core/text/visible.ts'
import { type Column, tableText } from './table.ts'

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

/** Data goes to the standard output, as text or JSON; everything said beside it goes to the error output. */
export class Output {
  readonly json: boolean
  /** Colours for data: none unless the standard output is a terminal. */
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

  /** One answer in both forms; the text is made only when it is wanted. */
  answer(value: unknown, text: () => string): void {
    this.line(this.json ? JSON.stringify(value) : text())
  }

  line(text: string): void {
    this.clearProgress()
    this.#stdout.write(`${this.json ? visibleJson(text) : withVisibleMarks(text)}\n`)
  }

  table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
    return tableText(columns, rows, this.width, this.colours.dim)
  }

  /** As wide as the terminal; what goes into a file or a pipe is not cut. */
  get width(): number {
    return this.#stdout.isTTY === true ? (this.#stdout.columns ?? 80) : Number.POSITIVE_INFINITY
  }

  /** Whether somebody sees what is replaced. */
  get showsProgress(): boolean {
    return this.#stderr.isTTY === true
  }

  /** A remark that is not part of the data. */
  note(text: string): void {
    this.clearProgress()
    this.#stderr.write(`${withVisibleMarks(text)}\n`)
  }

  /** Replaces the last progress; shown only to a person who watches. */
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
