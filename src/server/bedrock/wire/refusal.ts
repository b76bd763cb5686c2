/** A refused request, with the code and text that clients know. */
export class Refusal extends Error {
  readonly code: number

  constructor(code: number, text: string) {
    super(text)
    this.name = 'Refusal'
    this.code = code
  }
}
