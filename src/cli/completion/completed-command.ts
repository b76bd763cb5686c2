/** One command with what may follow it. */
export interface CompletedCommand {
  /** The words that lead to it, as one text; empty for the program itself. */
  readonly path: string
  readonly commands: readonly Completed[]
  readonly options: readonly CompletedOption[]
}

export interface Completed {
  readonly word: string
  readonly help: string
}

export interface CompletedOption extends Completed {
  /** It is followed by a value. */
  readonly hasValue: boolean
  /** The values that there are, where they are few. */
  readonly choices: readonly string[]
}
