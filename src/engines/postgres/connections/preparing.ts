import { digest } from '../../../core/text/digest.ts'

/**
 * The names under which the server keeps statements for a connection. A pooler may give another connection of the server to each
 * transaction, so the same name must mean the same text in every program.
 */
export class Preparing {
  readonly #names = new Map<string, string>()
  #isOn: boolean

  constructor(isOn: boolean) {
    this.#isOn = isOn
  }

  /** Undefined where the server is to keep nothing. */
  nameOf(text: string): string | undefined {
    if (!this.#isOn) return undefined
    const known = this.#names.get(text)
    if (known !== undefined) return known
    const name = `treadle_${digest(text)}`
    this.#names.set(text, name)
    return name
  }

  /** A connection is not always the same one: from here on nothing is kept. */
  giveUp(): void {
    this.#isOn = false
  }
}
