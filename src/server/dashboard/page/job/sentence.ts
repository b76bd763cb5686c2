export interface Said {
  readonly said: string
  readonly isCommand: boolean
}

const mostShown = 600
const instant = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z/
const command = /`(treadle [^`]*)`/

/** A reason as a sentence: with the commands that it names apart, and its instant as the page writes it. */
export function sentenceOf(reason: string, written: (at: number) => string): readonly Said[] {
  const sentence = `${reason[0]?.toUpperCase() ?? ''}${reason.slice(1)}${/[.?!]$/.test(reason) ? '' : '.'}`
  return (
    cut(sentence.replace('`treadle retry` puts', 'Retry puts'))
      // Only the first: the message of an error may follow, and is shown as it is.
      .replace(instant, (at) => written(Date.parse(at)))
      .split(command)
      .map((said, index) => ({ said, isCommand: index % 2 === 1 }))
  )
}

/** The attempts below show the message of an error in full. */
function cut(text: string): string {
  return text.length <= mostShown ? text : `${text.slice(0, mostShown / 2)} … ${text.slice(-60)}`
}
