import { randomToken } from '../id.ts'

/**
 * `JSON.parse` and `JSON.stringify` for data that is passed on: a number with more digits than a JavaScript number can hold comes
 * out as it came in. In between it is a string that only `writeExact` understands. Nobody can guess it, so no other string is
 * taken for one.
 */
const mark = `\u0000${randomToken()} `
const markText = JSON.stringify(mark).slice(1, -1)
const markedNumber = new RegExp(`"${markText.replaceAll('\\', '\\\\')}([^"]*)"`, 'g')

const mayBeInexact = /\d[\d.]{15}|[eE][+-]?\d{2}/
const textOrNumber = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g

/** Throws what `JSON.parse` throws. */
export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (!mayBeInexact.test(text)) return value
  return JSON.parse(text.replace(textOrNumber, (part) => (isInexact(part) ? `"${markText}${part}"` : part)))
}

export function writeExact(value: unknown): string {
  return unmarked(JSON.stringify(value))
}

/** The same for a text that `JSON.stringify` has written. */
export function unmarked(text: string): string {
  return text.includes(markText) ? text.replace(markedNumber, '$1') : text
}

/** A string that was parsed, as it was written: a number that is kept as a string has its digits. */
export function exactText(value: string): string {
  return value.startsWith(mark) ? value.slice(mark.length) : value
}

/** Fifteen digits always survive. */
function isInexact(part: string): boolean {
  if (part.startsWith('"')) return false
  const number = Number(part)
  const [digits = ''] = part.replace(/[-.]/g, '').split(/e/i)
  const isShort = digits.replace(/^0+|0+$/g, '').length <= 15
  const isInRange = Number.isFinite(number) && (number !== 0 || /^0*$/.test(digits))
  return !(isShort && isInRange) && String(number) !== part
}
