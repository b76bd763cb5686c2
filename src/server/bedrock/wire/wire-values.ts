import { ignoringCase } from './reply.ts'

/**
 * A value in the body of a reply. A text is written as whatever it looks like, because the protocol has no types. Null becomes an
 * empty text.
 */
export type WireValue = string | number | bigint | boolean | null | RawJson | readonly WireValue[] | WireFields

export interface WireFields {
  readonly [key: string]: WireValue
}

/** JSON text that is written unchanged. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** An object without spaces and with its keys in alphabetical order, ignoring case. */
export function wireObject(fields: WireFields): string {
  let text = ''
  for (const key of Object.keys(fields).sort(ignoringCase)) {
    text += `${text === '' ? '' : ','}${quoted(key)}:${wireValue(fields[key] as WireValue)}`
  }
  return `{${text}}`
}

export function wireValue(value: WireValue): string {
  if (typeof value === 'string') return guessed(value)
  if (value === null) return '""'
  if (typeof value !== 'object') return String(value)
  if (value instanceof RawJson) return value.text
  return isList(value) ? `[${value.map(wireValue).join(',')}]` : wireObject(value)
}

function isList(value: object): value is readonly WireValue[] {
  return Array.isArray(value)
}

/**
 * An integer, `true`, `false`, `null` and a valid JSON object or list are written as they are; anything else becomes a string.
 */
function guessed(text: string): string {
  if (text.length > maxLiteralLength) return looksLikeJson(text) ? text : quoted(text)
  if (isInt64(text)) return text
  if (literal.test(text)) return text.toLowerCase()
  return looksLikeJson(text) ? text : quoted(text)
}

const maxLiteralLength = 20
const literal = /^(?:true|false|null)$/i
const canonicalInteger = /^(?:0|-?[1-9]\d{0,18})$/

export function isInt64(text: string): boolean {
  if (!canonicalInteger.test(text)) return false
  return text.length < 19 || BigInt.asIntN(64, BigInt(text)) === BigInt(text)
}

function looksLikeJson(text: string): boolean {
  const opens = text[0]
  const closes = opens === '{' ? '}' : opens === '[' ? ']' : ''
  if (closes === '' || !text.endsWith(closes)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function quoted(text: string): string {
  const json = JSON.stringify(text)
  return json.includes('/') ? json.replaceAll('/', '\\/') : json
}
