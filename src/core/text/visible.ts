/**
 * Text from jobs may hold control characters, which could move the cursor or rename the terminal, and characters that are not seen
 * but change what is: they are shown, not sent. Line breaks and tabs stay.
 */
export function visible(text: string): string {
  return withVisibleMarks(text).replaceAll(/[^\P{Cc}\n\t]/gu, (character) => {
    const code = character.charCodeAt(0)
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? '\u2421' : '\ufffd'
  })
}

/** Only those that no program writes to lay out its own text: marks of direction, characters without a width, separators of lines. */
export function withVisibleMarks(text: string): string {
  return text.replaceAll(marks, escaped)
}

/** The same JSON, with an escape for each character that is not to reach a terminal as it is. */
export function visibleJson(json: string): string {
  return withVisibleMarks(json).replaceAll(/[\u007f-\u009f]/g, escaped)
}

/** Of the format characters (Cf) all, the two separators, and letters that leave only a gap. */
const marks = /[\p{Cf}\u2028\u2029\u115f\u1160\u3164\uffa0]|\u034f/gu

/** As JSON and JavaScript write it. */
function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
    '',
  )
}
