/** One frame of server-sent events. */
export interface EventFrame {
  readonly id: string | null
  readonly data: string
}

/** Parses server-sent events from chunks of text, which may end anywhere. */
export class EventFrames {
  #rest = ''

  /** Returns the frames completed by this chunk; a comment alone is not a frame. */
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
