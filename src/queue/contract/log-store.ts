/**
 * What jobs have logged, stored beside them and removed with them. Lines come and go in chunks, whose text is opaque here: see
 * `LogLine`. All lines of a job are numbered from 1, over all its attempts; where numbers are missing, lines were dropped.
 */
export interface LogStore {
  /**
   * Adds lines to jobs, in this order, and drops the oldest chunks of a job that has more than the bounds allow. A job that is not
   * there is passed over. No lease is asked for: the last lines of a run are written when it has ended.
   */
  append(chunks: readonly LogChunk[], bounds: LogBounds): Promise<void>
  /** The chunks of a job that have lines after this number, oldest first, at most `limit` of them. */
  read(id: string, after: number, limit: number): Promise<readonly StoredLogChunk[]>
  /**
   * Deletes what is stored of jobs that are not there: what was written at the moment they were deleted. Looks at the lines of up to
   * `limit` jobs, going on where the last call ended; gives how many it looked at.
   */
  sweep(limit: number): Promise<number>
}

export interface LogChunk {
  readonly id: string
  /** 1 for the first run. */
  readonly attempt: number
  /** How many lines the text has; at least 1. */
  readonly lines: number
  /** How many lines were dropped before these: they count among the numbers. */
  readonly dropped: number
  readonly text: string
}

export interface LogBounds {
  readonly lines: number
  /** Of all texts of a job, as UTF-8. */
  readonly bytes: number
}

export interface StoredLogChunk {
  readonly attempt: number
  /** The numbers of its first and last line. */
  readonly first: number
  readonly last: number
  readonly text: string
}

/** Where a job's lines stand. */
export interface LogExtent {
  /** The number of the last line; 0 where there is none. */
  readonly last: number
  readonly lines: number
  readonly bytes: number
}

export const noLog: LogExtent = { last: 0, lines: 0, bytes: 0 }

/** A chunk with its place among the lines of its job. */
export interface PlacedLogChunk extends StoredLogChunk {
  readonly bytes: number
}

/** Where a chunk comes to stand behind those that are there. */
export function placeChunk({ attempt, lines, dropped, text }: LogChunk, { last }: LogExtent): PlacedLogChunk {
  const first = last + dropped + 1
  return { attempt, first, last: first + lines - 1, text, bytes: Buffer.byteLength(text) }
}

export function extentWith(extent: LogExtent, { first, last, bytes }: Omit<PlacedLogChunk, 'text' | 'attempt'>): LogExtent {
  return { last, lines: extent.lines + last - first + 1, bytes: extent.bytes + bytes }
}

export function exceeds({ lines, bytes }: LogExtent, bounds: LogBounds): boolean {
  return lines > bounds.lines || bytes > bounds.bytes
}

/** From which line on a job's chunks, oldest first, are kept: all before it are dropped. The newest chunk always stays. */
export function keptFrom(
  chunks: readonly Pick<PlacedLogChunk, 'first' | 'last' | 'bytes'>[],
  extent: LogExtent,
  bounds: LogBounds,
): number {
  let { lines, bytes } = extent
  for (const [index, chunk] of chunks.entries()) {
    const isNewest = index === chunks.length - 1
    if (isNewest || !exceeds({ last: extent.last, lines, bytes }, bounds)) return chunk.first
    lines -= chunk.last - chunk.first + 1
    bytes -= chunk.bytes
  }
  return 0
}
