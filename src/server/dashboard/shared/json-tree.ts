/**
 * JSON as it was written: numbers keep all their digits, members their order. `JSON.parse` would silently round a
 * number of nineteen digits.
 */
export type JsonNode =
  | { readonly kind: 'object'; readonly members: readonly JsonMember[] }
  | { readonly kind: 'array'; readonly items: readonly JsonNode[] }
  | { readonly kind: 'text'; readonly text: string }
  /** A number, true, false or null, as written. */
  | { readonly kind: 'literal'; readonly text: string }

export interface JsonMember {
  readonly name: string
  readonly value: JsonNode
}

const deepest = 200

/** Null if the text is not JSON or is nested too deep to be shown. */
export function readJson(text: string): JsonNode | null {
  try {
    JSON.parse(text)
    const [node] = valueAt(text, blanks(text, 0), 0)
    return node
  } catch {
    return null
  }
}

export function writeTree(node: JsonNode): string {
  switch (node.kind) {
    case 'object':
      return `{${node.members.map(({ name, value }) => `${JSON.stringify(name)}:${writeTree(value)}`).join(',')}}`
    case 'array':
      return `[${node.items.map(writeTree).join(',')}]`
    case 'text':
      return JSON.stringify(node.text)
    case 'literal':
      return node.text
  }
}

/** The same over several lines, for editing. */
export function writeIndented(node: JsonNode, indent = ''): string {
  const inner = `${indent}  `
  switch (node.kind) {
    case 'object': {
      if (node.members.length === 0) return '{}'
      const lines = node.members.map(({ name, value }) => `${inner}${JSON.stringify(name)}: ${writeIndented(value, inner)}`)
      return `{\n${lines.join(',\n')}\n${indent}}`
    }
    case 'array': {
      if (node.items.length === 0) return '[]'
      return `[\n${node.items.map((item) => `${inner}${writeIndented(item, inner)}`).join(',\n')}\n${indent}]`
    }
    default:
      return writeTree(node)
  }
}

type Read = readonly [node: JsonNode, end: number]

/** The text is known to be valid JSON, so this only distinguishes the kinds of values. */
function valueAt(text: string, at: number, depth: number): Read {
  if (depth > deepest) throw new Error('too deep')
  const first = text[at]
  if (first === '"') {
    const end = textEnd(text, at)
    return [{ kind: 'text', text: JSON.parse(text.slice(at, end)) as string }, end]
  }
  if (first === '{') return objectAt(text, at, depth)
  if (first === '[') return arrayAt(text, at, depth)
  const literal = /[^\s,\]}]+/y
  literal.lastIndex = at
  const found = literal.exec(text)?.[0] ?? ''
  return [{ kind: 'literal', text: found }, at + found.length]
}

function objectAt(text: string, start: number, depth: number): Read {
  const members: JsonMember[] = []
  let at = blanks(text, start + 1)
  while (text[at] !== '}') {
    const nameEnd = textEnd(text, at)
    const name = JSON.parse(text.slice(at, nameEnd)) as string
    const [value, end] = valueAt(text, blanks(text, blanks(text, nameEnd) + 1), depth + 1)
    members.push({ name, value })
    at = blanks(text, end)
    if (text[at] === ',') at = blanks(text, at + 1)
  }
  return [{ kind: 'object', members }, at + 1]
}

function arrayAt(text: string, start: number, depth: number): Read {
  const items: JsonNode[] = []
  let at = blanks(text, start + 1)
  while (text[at] !== ']') {
    const [item, end] = valueAt(text, at, depth + 1)
    items.push(item)
    at = blanks(text, end)
    if (text[at] === ',') at = blanks(text, at + 1)
  }
  return [{ kind: 'array', items }, at + 1]
}

function blanks(text: string, from: number): number {
  let at = from
  while (at < text.length && ' \t\n\r'.includes(text[at] as string)) at++
  return at
}

function textEnd(text: string, start: number): number {
  let at = start + 1
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}
