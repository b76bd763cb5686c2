import { UsageError } from './failure.ts'
import { visibleLine } from './output/text.ts'

/** Parses JSON written by a person. The error gives the position of the first mistake, which `JSON.parse` often does not. */
export function parseJsonText(text: string, source: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError(`${source} is not JSON: ${describe(text, firstMistake(text))}`)
  }
}

interface Mistake {
  readonly position: number
  readonly expected: string
}

function describe(text: string, { position, expected }: Mistake): string {
  const before = text.slice(0, position).split('\n')
  const place = `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`
  const found =
    position >= text.length
      ? 'where the text ends'
      : `found "${visibleLine([...text.slice(position, position + 20)].slice(0, 12).join(''))}"`
  return `expected ${expected} at ${place}, ${found}`
}

const token =
  /\s*(?:("(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)(?!\w))|([[\]{},:]))/y

type Expecting = 'value' | 'value or ]' | 'key' | 'key or }' | 'colon' | 'comma or end'

const wording: Readonly<Record<Expecting, string>> = {
  value: 'a value',
  'value or ]': 'a value or "]"',
  key: 'a property name in double quotes',
  'key or }': 'a property name in double quotes or "}"',
  colon: '":"',
  'comma or end': 'the end',
}

/** Walks over the tokens; only called for text that is known to contain a mistake. */
function firstMistake(text: string): Mistake {
  const open: string[] = []
  let expecting: Expecting = 'value'
  token.lastIndex = 0
  for (;;) {
    const from = token.lastIndex
    const found = token.exec(text)
    const next: Expecting | undefined = found === null ? undefined : step(expecting, found, open)
    if (next === undefined) return { position: from + leadingSpace(text, from), expected: wordingOf(expecting, open) }
    expecting = next
  }
}

/** What may follow this token; undefined if the token is not allowed here. */
function step(expecting: Expecting, [, string, literal, mark]: RegExpExecArray, open: string[]): Expecting | undefined {
  const isValue = expecting === 'value' || expecting === 'value or ]'
  if (literal !== undefined) return isValue ? 'comma or end' : undefined
  if (string !== undefined) return isValue ? 'comma or end' : expecting.startsWith('key') ? 'colon' : undefined
  if (isValue && (mark === '{' || mark === '[')) {
    open.push(mark)
    return mark === '{' ? 'key or }' : 'value or ]'
  }
  if (mark === ':') return expecting === 'colon' ? 'value' : undefined
  const inside = open.at(-1)
  if (mark === ',' && expecting === 'comma or end' && inside !== undefined) return inside === '{' ? 'key' : 'value'
  const closes = (mark === '}' && inside === '{') || (mark === ']' && inside === '[')
  if (!closes || !(expecting === 'comma or end' || expecting === 'key or }' || expecting === 'value or ]')) return undefined
  open.pop()
  return 'comma or end'
}

function wordingOf(expecting: Expecting, open: readonly string[]): string {
  if (expecting !== 'comma or end' || open.length === 0) return wording[expecting]
  return `"," or "${open.at(-1) === '{' ? '}' : ']'}"`
}

function leadingSpace(text: string, from: number): number {
  return /^\s*/.exec(text.slice(from))?.[0].length ?? 0
}
