/** One command, with what may follow it. */
export interface CompletedCommand {
  /** The words that lead to it, joined by spaces; empty for the program itself. */
  readonly path: string
  readonly commands: readonly Completed[]
  readonly options: readonly CompletedOption[]
}

export interface Completed {
  readonly word: string
  readonly help: string
}

export interface CompletedOption extends Completed {
  /** Whether it takes a value. */
  readonly hasValue: boolean
  /** The allowed values, if there are only a few. */
  readonly choices: readonly string[]
}
