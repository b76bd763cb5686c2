/** What a topic shows, or why it cannot be shown. */
export interface Looked {
  readonly data?: unknown
  readonly problem?: { readonly status: number; readonly title: string; readonly detail: string }
}

interface Frame {
  readonly at: number
  readonly bytes: Uint8Array
}

/** How old the time in an event may be: pages set their clocks by it. */
const sameTimeMs = 250
const encoder = new TextEncoder()

/**
 * One state of a topic, kept as the JSON of each member. A stream that has the version before receives only the members that have
 * changed. Each event is encoded once for all streams.
 */
export class TopicVersion {
  readonly number: number
  readonly #topic: string
  /** Null if it is not an object. */
  readonly #members: ReadonlyMap<string, string> | null
  readonly #body: string
  readonly #changes: string | null
  #whole: Frame | null = null
  #change: Frame | null = null

  /** The version after `before`; that one itself if nothing has changed. */
  static after(before: TopicVersion | null, topic: string, looked: Looked): TopicVersion {
    const next = new TopicVersion(before, topic, looked)
    return before !== null && next.#body === before.#body ? before : next
  }

  private constructor(before: TopicVersion | null, topic: string, { data, problem }: Looked) {
    this.number = before === null ? 1 : before.number + 1
    this.#topic = topic
    this.#members = problem === undefined ? membersOf(data) : null
    this.#body = problem !== undefined ? `"problem":${JSON.stringify(problem)}` : `"data":${this.#text(data)}`
    this.#changes = changesBetween(before === null ? null : before.#members, this.#members)
  }

  /** The event for a stream that last received the version with this number; 0 if it has received none. */
  event(received: number, now: number): Uint8Array {
    if (this.#changes !== null && received === this.number - 1) {
      this.#change = this.#frame(this.#change, this.#changes, now)
      return this.#change.bytes
    }
    this.#whole = this.#frame(this.#whole, this.#body, now)
    return this.#whole.bytes
  }

  #text(data: unknown): string {
    return this.#members === null ? JSON.stringify(data ?? null) : objectOf(this.#members)
  }

  #frame(known: Frame | null, body: string, now: number): Frame {
    if (known !== null && now >= known.at && now - known.at < sameTimeMs) return known
    return { at: now, bytes: encoder.encode(`data: {"topic":${JSON.stringify(this.#topic)},"at":${now},${body}}\n\n`) }
  }
}

function membersOf(data: unknown): ReadonlyMap<string, string> | null {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return null
  const members = Object.entries(data).map(([name, value]) => [name, JSON.stringify(value) as string | undefined] as const)
  return new Map(members.flatMap(([name, text]) => (text === undefined ? [] : [[name, text] as const])))
}

/** Null if a member is gone, or if it was or is not an object. */
function changesBetween(before: ReadonlyMap<string, string> | null, after: ReadonlyMap<string, string> | null): string | null {
  if (before === null || after === null || [...before.keys()].some((name) => !after.has(name))) return null
  return `"changes":${objectOf(new Map([...after].filter(([name, text]) => before.get(name) !== text)))}`
}

function objectOf(members: ReadonlyMap<string, string>): string {
  return `{${[...members].map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`
}
