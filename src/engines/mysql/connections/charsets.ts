/** What a connection says of the texts that come and go on it. */
export interface Charsets {
  readonly charset: string
  /** Null where texts go as they are stored. */
  readonly answers: string | null
}

export const charsetColumns = '@@character_set_client AS charset, @@character_set_results AS answers'

/** Every text can be said in utf8mb4, and in no other charset of a connection. */
export function charsetProblems({ charset, answers }: Charsets): readonly string[] {
  const other = [charset, answers].find((name) => name !== 'utf8mb4')
  return other === undefined ? [] : [`must be utf8mb4, and is ${other ?? 'none'}`]
}
