import { randomToken } from '../id.ts'

/**
 * `JSON.parse` and `JSON.stringify` for data that is passed on: a number that JavaScript would write differently comes out as it came
 * in. In between it is a string that only `writeExact` understands. Nobody can guess it, so no other string is
 * taken for one.
 */
const mark = `\u0000${randomToken()} `
const markText = JSON.stringify(mark).slice(1, -1)
const markedNumber = new RegExp(`"${markText.replaceAll('\\', '\\\\')}([^"]*)"`, 'g')

const mayBeInexact = /\d[\d.]{15}|[eE][+-]?\d{2}/
const mayBeRespelled = /\d[\d.]{15}|\d[eE]|\d\.\d|-0/
const textOrNumber = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g

/** Keeps numbers with more digits than a JavaScript number can hold. Throws what `JSON.parse` throws. */
export function parseExact(text: string): unknown {
  return parsed(text, mayBeInexact, isInexact)
}

/** For data that is written again: also keeps the spelling of numbers such as `1.0` and `1e3`. Throws what `JSON.parse` throws. */
export function parseVerbatim(text: string): unknown {
  return parsed(text, mayBeRespelled, isRespelled)
}

function parsed(text: string, mayBeKept: RegExp, isKept: (part: string) => boolean): unknown {
  const value: unknown = JSON.parse(text)
  if (!mayBeKept.test(text)) return value
  return JSON.parse(text.replace(textOrNumber, (part) => (isKept(part) ? `"${markText}${part}"` : part)))
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

function isRespelled(part: string): boolean {
  return !part.startsWith('"') && String(Number(part)) !== part
}
