import { visible } from '../../core/text/visible.ts'

export { visible }

/** The same on a single line. */
export function visibleLine(text: string): string {
  return visible(text).replaceAll(/\s*[\n\t]\s*/g, ' ')
}

const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u
const none = /\p{Mn}|\p{Me}|\p{Cf}/u

/** The number of terminal columns that a text without colours takes. */
export function displayWidth(text: string): number {
  let width = 0
  for (const character of text) width += none.test(character) ? 0 : wide.test(character) ? 2 : 1
  return width
}

/** Wraps to this width where the words allow it; lines after the first are indented. */
export function wrapped(text: string, width: number, indent = ''): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (line === '' || displayWidth(longer) <= width) line = longer
    else {
      lines.push(line)
      line = indent + word
    }
  }
  return [...lines, line].join('\n')
}

/**
 * Fits lines into this width, for terminals: at spaces where possible, and in the middle of words that are longer than a line. What
 * follows is indented to the value of a line with a label, if that leaves half of the width. Colours take no space.
 */
export function folded(text: string, width: number): string {
  if (width === Number.POSITIVE_INFINITY) return text
  return text
    .split('\n')
    .map((line) => (shownWidth(line) <= width ? line : foldedLine(line, width)))
    .join('\n')
}

const escapes = /(\p{Cc}\[[0-9;]*m)/u

function shownWidth(text: string): number {
  return displayWidth(withoutColours(text))
}

function withoutColours(text: string): string {
  return text
    .split(escapes)
    .filter((_, index) => index % 2 === 0)
    .join('')
}

function foldedLine(line: string, width: number): string {
  const plain = withoutColours(line)
  const indent = plain.search(/\S|$/)
  const label = /^\s*\S.*?\s{2,}(?=\S)/.exec(plain)?.[0].length ?? width
  const margin = ' '.repeat(label <= width / 2 ? label : Math.min(indent + 2, Math.floor(width / 2)))
  const lines: string[] = []
  let current = ''
  for (const word of line.split(/(?<=\S)(?= )/)) {
    if (shownWidth(current + word) <= width) {
      current += word
      continue
    }
    const below = margin + word.trimStart()
    if (current !== '' && shownWidth(below) <= width) {
      lines.push(current)
      current = below
      continue
    }
    current += word
    for (; shownWidth(current) > width; current = margin + current) {
      const fitting = beginning(current, width)
      lines.push(fitting)
      current = current.slice(fitting.length)
    }
  }
  return [...lines, current].join('\n')
}

/** As much of a text as fits into this width. */
function beginning(text: string, width: number): string {
  let fitting = ''
  for (const part of text.split(escapes)) {
    for (const character of escapes.test(part) ? [part] : part) {
      if (shownWidth(fitting + character) > width) return fitting
      fitting += character
    }
  }
  return fitting
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}
