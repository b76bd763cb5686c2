/** A request that is not carried out, with the words by which clients know why. */
export class Refusal extends Error {
  readonly code: number

  constructor(code: number, text: string) {
    super(text)
    this.name = 'Refusal'
    this.code = code
  }
}
