import { digest } from '../../../core/text/digest.ts'

/**
 * Names of prepared statements. A pooler may assign a different server connection to each transaction, so the same name must mean
 * the same text in every program.
 */
export class Preparing {
  readonly #names = new Map<string, string>()
  #isOn: boolean

  constructor(isOn: boolean) {
    this.#isOn = isOn
  }

  /** Undefined if statements should not be prepared. */
  nameOf(text: string): string | undefined {
    if (!this.#isOn) return undefined
    const known = this.#names.get(text)
    if (known !== undefined) return known
    const name = `treadle_${digest(text)}`
    this.#names.set(text, name)
    return name
  }

  /** Call when a connection turns out not to be stable: no statements are prepared from then on. */
  giveUp(): void {
    this.#isOn = false
  }
}
