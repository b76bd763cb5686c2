/** What each word adds to a schedule, by its arguments. The first argument is what to call the word in an error. */
export type Meanings<Words, Part> = {
  readonly [Word in keyof Words]: Words[Word] extends (...args: infer Args) => unknown
    ? (method: string, ...args: Args) => Part
    : never
}
