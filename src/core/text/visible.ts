/**
 * Escapes control characters, which could move the cursor or rename the terminal, and invisible characters that change what is
 * displayed. Text from jobs may contain either. Line breaks and tabs are kept.
 */
export function visible(text: string): string {
  return withVisibleMarks(text).replaceAll(/[^\P{Cc}\n\t]/gu, (character) => {
    const code = character.charCodeAt(0)
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? '\u2421' : '\ufffd'
  })
}

/**
 * Escapes only characters that no program uses to lay out its own text: direction marks, zero-width characters and line
 * separators.
 */
export function withVisibleMarks(text: string): string {
  return text.replaceAll(marks, escaped)
}

/** The same JSON with an escape for each character that must not reach a terminal unchanged. */
export function visibleJson(json: string): string {
  return withVisibleMarks(json).replaceAll(/[\u007f-\u009f]/g, escaped)
}

/** Joins the parts of one emoji, and is seen as that. */
const joiner = /(?<=\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)\u200d(?=\p{Extended_Pictographic})/u

/** All format characters (Cf), the two separators, and letters that render as blanks. */
const marks = new RegExp(`(?!${joiner.source})[\\p{Cf}\\u2028\\u2029\\u115f\\u1160\\u3164\\uffa0\\u034f]`, 'gu')

/** The escape used by JSON and JavaScript. */
function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
    '',
  )
}
