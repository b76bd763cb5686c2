/**
 * A short history of what happens in a queue, for whoever listens in any process. It is written only while a listener has announced
 * itself, in chunks whose text is opaque here, and the oldest chunks are dropped. All events are numbered from 1; where numbers are
 * missing, events were dropped.
 */
export interface EventStore {
  /**
   * Writes or renews the row of a listener for `ttlMs` from now; the rows of others whose time is over are forgotten on the way. The
   * first listener begins a new epoch: what happened before it was recorded by nobody.
   */
  listen(listener: EventListenerRow, ttlMs: number): Promise<EventPosition>
  /** The listener has ended. With the last one, the history goes too. */
  leave(id: string): Promise<void>
  /** What those whose time is not over want to hear of, as they said it: at the cost of the listeners alone. */
  wanted(): Promise<readonly string[]>
  /** Adds chunks, in this order and all together, and numbers their events. */
  append(chunks: readonly EventChunk[]): Promise<void>
  /** The chunks that have events after this number, oldest first, at most `limit` of them. */
  read(after: number, limit: number): Promise<readonly StoredEventChunk[]>
}

export interface EventListenerRow {
  readonly id: string
  /** Opaque here. */
  readonly wants: string
}

/** Where the history ends. */
export interface EventPosition {
  /** Another one after a time in which nobody listened. */
  readonly epoch: number
  /** The number of the last event; 0 where there never was one. */
  readonly last: number
}

export interface EventChunk {
  /** How many events the text has; 0 where only drops are told of. */
  readonly events: number
  /** How many events were dropped before these: they count among the numbers. */
  readonly dropped: number
  readonly text: string
}

export interface StoredEventChunk {
  /** The numbers of its first and last event; none where the first is greater. */
  readonly first: number
  readonly last: number
  readonly text: string
}

/** So many chunks are kept, or a few more: at most 64 MB of them, and most often far less than one. */
export const keptEventChunks = 1_000

/** So many appends of one program lie between two looks at whether there are too many chunks. */
export const appendsBetweenTrims = 50

/** A chunk with its place behind the last number. */
export function placeEvents({ events, dropped, text }: EventChunk, last: number): StoredEventChunk {
  return { first: last + dropped + 1, last: last + dropped + events, text }
}
