/** One frame of server-sent events. */
export interface EventFrame {
  readonly id: string | null
  readonly data: string
}

/** Reads server-sent events out of pieces of text, which end anywhere. */
export class EventFrames {
  #rest = ''

  /** What is whole by now; a comment alone is no frame. */
  read(piece: string): readonly EventFrame[] {
    const parts = (this.#rest + piece).split('\n\n')
    this.#rest = parts.pop() ?? ''
    return parts.flatMap(frameOf)
  }
}

function frameOf(text: string): readonly EventFrame[] {
  let id: string | null = null
  const data: string[] = []
  for (const line of text.split('\n')) {
    const colon = line.indexOf(':')
    const value = line.slice(colon + 1).replace(/^ /, '')
    if (line.startsWith('data:')) data.push(value)
    else if (line.startsWith('id:')) id = value
  }
  return data.length === 0 ? [] : [{ id, data: data.join('\n') }]
}
