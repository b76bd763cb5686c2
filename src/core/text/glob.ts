/** Whether a text matches a pattern. */
export type Glob = (text: string) => boolean

/**
 * SQLite's GLOB: `*` matches any text, `?` any single character, and `[abc]`, `[a-z]` and `[^a-z]` a character in or not in a
 * set. Everything else matches itself, case-sensitively. An unclosed set matches nothing.
 */
export function glob(pattern: string): Glob {
  if (!special.test(pattern)) return (text) => text === pattern
  const parts = partsOf(Array.from(pattern, codeOf))
  if (parts === undefined) return () => false
  if (parts.length === 1 && parts[0] === anyText) return () => true
  return (text) => fits(parts, Array.from(text, codeOf))
}

const special = /[*?[]/
const anyText = Symbol('*')
const anyOne = Symbol('?')

interface CharacterSet {
  readonly isInverted: boolean
  /** Pairs of first and last character. */
  readonly ranges: readonly (readonly [number, number])[]
}

type Part = number | typeof anyText | typeof anyOne | CharacterSet

function codeOf(character: string): number {
  return character.codePointAt(0) as number
}

const [star, question, opening, closing, caret, hyphen] = Array.from('*?[]^-', codeOf) as [
  number,
  number,
  number,
  number,
  number,
  number,
]

function partsOf(pattern: readonly number[]): readonly Part[] | undefined {
  const parts: Part[] = []
  for (let at = 0; at < pattern.length; at++) {
    const code = pattern[at] as number
    if (code === star) {
      if (parts.at(-1) !== anyText) parts.push(anyText)
    } else if (code === question) parts.push(anyOne)
    else if (code === opening) {
      const set = setAt(pattern, at + 1)
      if (set === undefined) return undefined
      parts.push(set.set)
      at = set.end
    } else parts.push(code)
  }
  return parts
}

/** A leading `]` belongs to the set, and so does a `-` without a character on both sides. */
function setAt(pattern: readonly number[], start: number): { readonly set: CharacterSet; readonly end: number } | undefined {
  const ranges: (readonly [number, number])[] = []
  const isInverted = pattern[start] === caret
  let at = isInverted ? start + 1 : start
  if (pattern[at] === closing) {
    ranges.push([closing, closing])
    at++
  }
  for (let first: number | undefined; pattern[at] !== closing; at++) {
    const code = pattern[at]
    if (code === undefined) return undefined
    const last = pattern[at + 1]
    if (code === hyphen && first !== undefined && last !== undefined && last !== closing) {
      ranges.push([first, last])
      first = undefined
      at++
    } else {
      ranges.push([code, code])
      first = code
    }
  }
  return { set: { isInverted, ranges }, end: at }
}

/** Only the last `*` ever backtracks, so the work is at most the product of both lengths. */
function fits(parts: readonly Part[], text: readonly number[]): boolean {
  let part = 0
  let at = 0
  let lastStar = -1
  let resumeAt = 0
  while (at < text.length) {
    const wanted = parts[part]
    if (wanted === anyText) {
      lastStar = part++
      resumeAt = at
    } else if (wanted !== undefined && fitsOne(wanted, text[at] as number)) {
      part++
      at++
    } else if (lastStar >= 0) {
      part = lastStar + 1
      at = ++resumeAt
    } else return false
  }
  while (parts[part] === anyText) part++
  return part === parts.length
}

function fitsOne(part: Part, code: number): boolean {
  if (typeof part === 'number') return part === code
  if (typeof part === 'symbol') return part === anyOne
  return part.ranges.some(([first, last]) => code >= first && code <= last) !== part.isInverted
}
