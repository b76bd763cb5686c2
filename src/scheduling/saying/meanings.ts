/** For each method, what it adds to a schedule. The first argument is the name of the method for error messages. */
export type Meanings<Words, Part> = {
  readonly [Word in keyof Words]: Words[Word] extends (...args: infer Args) => unknown
    ? (method: string, ...args: Args) => Part
    : never
}
