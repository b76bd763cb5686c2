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

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}
