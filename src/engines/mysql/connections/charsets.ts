/** The charsets in which a connection sends and receives text. */
export interface Charsets {
  readonly charset: string
  /** Null if text is sent as it is stored. */
  readonly answers: string | null
}

export const charsetColumns = '@@character_set_client AS charset, @@character_set_results AS answers'

/** utf8mb4 is the only connection charset that can represent every text. */
export function charsetProblems({ charset, answers }: Charsets): readonly string[] {
  const other = [charset, answers].find((name) => name !== 'utf8mb4')
  return other === undefined ? [] : [`must be utf8mb4, and is ${other ?? 'none'}`]
}
