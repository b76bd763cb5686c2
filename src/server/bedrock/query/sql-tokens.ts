/** A token of an SQL statement. The value of a text is without its quotes. */
export interface SqlToken {
  readonly kind: 'word' | 'text' | 'number' | 'sign'
  readonly value: string
}

const piece = /[ \t\r\n]+|([A-Za-z_][A-Za-z0-9_]*)|'((?:[^'\0]|'')*)'|([0-9]+(?:\.[0-9]+)?)|([<>=!]=|<>|\|\||[-+*/%<>=(),;])/y

/**
 * Null if the statement contains anything that is not understood for certain: comments, quoted names, parameters, non-ASCII
 * letters.
 */
export function sqlTokens(sql: string): readonly SqlToken[] | null {
  const tokens: SqlToken[] = []
  let wasValue = false
  piece.lastIndex = 0
  while (piece.lastIndex < sql.length) {
    const at = piece.lastIndex
    const [, word, text, number, sign] = piece.exec(sql) ?? []
    const value = word ?? text ?? number
    const isComment = sql.startsWith('--', at) || sql.startsWith('/*', at)
    // Two adjacent values, such as x'00' or 1e3, may be a single literal.
    if (piece.lastIndex === 0 || isComment || (wasValue && value !== undefined)) return null
    wasValue = value !== undefined
    if (word !== undefined) tokens.push({ kind: 'word', value: word })
    else if (text !== undefined) tokens.push({ kind: 'text', value: text.replaceAll("''", "'") })
    else if (number !== undefined) tokens.push({ kind: 'number', value: number })
    else if (sign !== undefined) tokens.push({ kind: 'sign', value: sign })
  }
  return tokens
}
