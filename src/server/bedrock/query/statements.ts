/** A comment, something in quotes, a semicolon, or anything else. What has no end reaches to the end of the text. */
const piece = /(--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|'[^']*(?:'|$)|"[^"]*(?:"|$)|`[^`]*(?:`|$)|\[[^\]]*(?:\]|$)|;|[^-/'"`[;]+|[-/]/g
const reading = /^(?:explain\s+(?:query\s+plan\s+)?)?(?:select|with|values)\b/i

/**
 * Whether these statements can only read. All of them count, although only the first one is carried out: a client that has sent
 * one that writes must not believe that it was.
 */
export function areReading(sql: string): boolean {
  const statements = statementsIn(sql)
  return statements.length > 0 && statements.every((each) => reading.test(each))
}

/** Without their comments. */
function statementsIn(sql: string): readonly string[] {
  const found = ['']
  for (const [text, comment] of sql.matchAll(piece)) {
    if (text === ';') found.push('')
    else found[found.length - 1] += comment === undefined ? text : ' '
  }
  return found.map((each) => each.trim()).filter((each) => each !== '')
}
