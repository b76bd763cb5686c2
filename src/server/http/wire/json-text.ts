/**
 * The text of each member of a JSON object, exactly as it was sent, so that numbers with more digits than a JavaScript number can
 * hold are preserved. The text must be JSON that was parsed before. If a name is repeated, the last one counts, as with
 * `JSON.parse`.
 */
export function memberTexts(object: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>()
  for (let at = next(object, next(object, 0) + 1); object[at] !== '}'; ) {
    const nameEnd = valueEnd(object, at)
    const start = next(object, next(object, nameEnd) + 1)
    const end = valueEnd(object, start)
    members.set(JSON.parse(object.slice(at, nameEnd)) as string, object.slice(start, end))
    at = afterComma(object, end)
  }
  return members
}

/** The text of each entry of a JSON list. */
export function entryTexts(list: string): readonly string[] {
  const entries: string[] = []
  for (let at = next(list, next(list, 0) + 1); list[at] !== ']'; ) {
    const end = valueEnd(list, at)
    entries.push(list.slice(at, end))
    at = afterComma(list, end)
  }
  return entries
}

function afterComma(text: string, end: number): number {
  const at = next(text, end)
  return text[at] === ',' ? next(text, at + 1) : at
}

/** The first position from here on that is not white space. */
function next(text: string, from: number): number {
  let at = from
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++
  return at
}

const plainValue = /[^\s,\]}]*/y
const mark = /[[\]{}"]/g

function valueEnd(text: string, start: number): number {
  if (text[start] === '"') return textEnd(text, start)
  if (text[start] !== '{' && text[start] !== '[') {
    plainValue.lastIndex = start
    plainValue.test(text)
    return plainValue.lastIndex
  }
  let depth = 0
  for (let at = start; ; ) {
    mark.lastIndex = at
    const found = mark.exec(text) as RegExpExecArray
    at = found[0] === '"' ? textEnd(text, found.index) : found.index + 1
    if (found[0] === '{' || found[0] === '[') depth++
    else if (found[0] !== '"' && --depth === 0) return at
  }
}

/** The position after the closing quote of the string that begins at `start`. */
export function textEnd(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at + 1
  }
}
