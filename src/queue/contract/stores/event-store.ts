/**
 * A short history of events in a queue, for listeners in any process. It is recorded only while a listener is registered, in
 * chunks whose text is opaque to the store; the oldest chunks are dropped. Events are numbered from 1; gaps in the numbers mean
 * that events were dropped.
 */
export interface EventStore {
  /**
   * Writes or renews a listener's row for `ttlMs` from now, and deletes expired rows of other listeners. The first listener
   * starts a new epoch, because nothing was recorded before it.
   */
  listen(listener: EventListenerRow, ttlMs: number): Promise<EventPosition>
  /** Removes a listener. The history is deleted with the last one. */
  leave(id: string): Promise<void>
  /** The `wants` of all listeners that have not expired. The cost depends only on the number of listeners. */
  wanted(): Promise<readonly string[]>
  /** Appends chunks, in this order and atomically, and numbers their events. */
  append(chunks: readonly EventChunk[]): Promise<void>
  /** The chunks with events after this number, oldest first, at most `limit` of them. */
  read(after: number, limit: number): Promise<readonly StoredEventChunk[]>
}

export interface EventListenerRow {
  readonly id: string
  /** Opaque to the store. */
  readonly wants: string
}

/** The end of the history. */
export interface EventPosition {
  /** Changes after a period without listeners. */
  readonly epoch: number
  /** The number of the last event; 0 if there never was one. */
  readonly last: number
}

export interface EventChunk {
  /** Number of events in the text; 0 if the chunk only reports dropped events. */
  readonly events: number
  /** Number of events dropped before these. They are counted in the numbering. */
  readonly dropped: number
  readonly text: string
}

export interface StoredEventChunk {
  /** The numbers of its first and last event. It has none if `first` is greater than `last`. */
  readonly first: number
  readonly last: number
  readonly text: string
}

/** Number of chunks to keep; a few more may remain. At most 64 MB in total, usually far less than 1 MB. */
export const keptEventChunks = 1_000

/** Number of appends by one program between checks for surplus chunks. */
export const appendsBetweenTrims = 50

/** Numbers a chunk's events after the last number. */
export function placeEvents({ events, dropped, text }: EventChunk, last: number): StoredEventChunk {
  return { first: last + dropped + 1, last: last + dropped + events, text }
}
