import { isWanted, type WantedEvents } from './event-filter.ts'
import type { DroppedEvents, QueueEvent } from './queue-event.ts'

/** Live events from all processes of the queue. Leaving the loop, `close` or the signal ends the stream. */
export interface EventStream extends AsyncIterableIterator<QueueEvent, undefined> {
  /**
   * Resolves when the listener is registered. Other processes may take up to a second to notice it; until then, their events are
   * missed.
   */
  readonly listening: Promise<void>
  /** Number of events dropped so far because they were not read in time. */
  readonly dropped: number
  /** Stops listening and discards unread events. */
  close(): Promise<void>
}

export interface StreamOptions {
  readonly wanted: WantedEvents
  /** Maximum number of unread events. Beyond that, the oldest are dropped and counted. */
  readonly buffer: number
  /** Further restricts the events that the reader gets. */
  readonly sees: ((event: QueueEvent) => boolean) | null
  /** Whether to decrypt encrypted parts if this process has the key. */
  readonly decrypts: boolean
  readonly onClose: () => Promise<void>
}

/** The unread events of one reader. The buffer is bounded: a slow reader loses the oldest events and is told how many. */
export class BufferedEvents implements EventStream {
  readonly wanted: WantedEvents
  readonly listening: Promise<void>
  dropped = 0
  readonly #options: StreamOptions
  #waiting: QueueEvent[] = []
  /** Number of leading entries of `#waiting` that have already been read. */
  #taken = 0
  #untold = 0
  #isOver = false
  #failure: { readonly error: unknown } | undefined
  #wake: () => void = () => {}
  #hasBegun!: () => void
  #hasFailed!: (error: unknown) => void

  constructor(options: StreamOptions) {
    this.#options = options
    this.wanted = options.wanted
    this.listening = new Promise((resolve, reject) => {
      this.#hasBegun = resolve
      this.#hasFailed = reject
    })
    // The reader gets this error from `next` as well.
    this.listening.catch(() => {})
  }

  get isOver(): boolean {
    return this.#isOver
  }

  get decrypts(): boolean {
    return this.#options.decrypts
  }

  begun(): void {
    this.#hasBegun()
  }

  /** Ends the stream with an error, which the reader gets after the buffered events. */
  fail(error: unknown): void {
    this.#failure ??= { error }
    this.#hasFailed(error)
    this.end()
  }

  end(): void {
    this.#isOver = true
    this.#hasBegun()
    this.#wake()
  }

  offer(event: QueueEvent): void {
    const isTold = event.type === 'dropped' || (isWanted(this.wanted, event) && (this.#options.sees?.(event) ?? true))
    if (!isTold || this.#isOver) return
    if (this.#waiting.length - this.#taken >= this.#options.buffer) this.#dropOldest()
    this.#waiting.push(event)
    this.#wake()
  }

  async next(): Promise<IteratorResult<QueueEvent, undefined>> {
    for (;;) {
      const event = this.#take()
      if (event !== null) return { done: false, value: event }
      if (this.#failure !== undefined) {
        const { error } = this.#failure
        this.#failure = undefined
        throw error
      }
      if (this.#isOver) return { done: true, value: undefined }
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  async return(): Promise<IteratorResult<QueueEvent, undefined>> {
    await this.close()
    return { done: true, value: undefined }
  }

  async close(): Promise<void> {
    this.#waiting = []
    this.#taken = 0
    this.end()
    await this.#options.onClose()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #take(): QueueEvent | null {
    const next = this.#waiting[this.#taken]
    if (next === undefined) return null
    if (this.#untold > 0) {
      const { at, position, process } = next
      const told: DroppedEvents = { type: 'dropped', at, position: before(position), process, count: this.#untold }
      this.#untold = 0
      return told
    }
    this.#taken++
    if (this.#taken === this.#waiting.length || this.#taken >= this.#options.buffer) {
      this.#waiting = this.#waiting.slice(this.#taken)
      this.#taken = 0
    }
    return next
  }

  #dropOldest(): void {
    const oldest = this.#waiting[this.#taken]
    this.#taken++
    // Dropping a `dropped` event must keep its count, which may be unknown.
    const count = oldest?.type === 'dropped' ? (oldest.count ?? 0) : 1
    this.#untold += count
    this.dropped += count
    if (this.#taken >= this.#options.buffer) {
      this.#waiting = this.#waiting.slice(this.#taken)
      this.#taken = 0
    }
  }
}

/** The position of an event in the queue, the same for all processes. */
export interface StreamPosition {
  readonly epoch: number
  readonly number: number
}

export function positionText({ epoch, number }: StreamPosition): string {
  return `${epoch}-${number}`
}

/** Null if the text is not a position. */
export function parsePosition(text: string): StreamPosition | null {
  const [, epoch, number] = /^(\d{1,15})-(\d{1,15})$/.exec(text) ?? []
  return epoch === undefined || number === undefined ? null : { epoch: Number(epoch), number: Number(number) }
}

/** The position to resume from in order to get the event that follows a gap. */
function before(position: string): string {
  const parsed = parsePosition(position)
  return parsed === null ? position : positionText({ ...parsed, number: parsed.number - 1 })
}
