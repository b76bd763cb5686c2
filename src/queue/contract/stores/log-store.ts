/**
 * Log lines of jobs, stored with the jobs and deleted with them. Lines are written and read in chunks whose text is opaque to the
 * store: see `LogLine`. The lines of a job are numbered from 1 across all its attempts; gaps in the numbers mean that lines were
 * dropped.
 */
export interface LogStore {
  /**
   * Appends lines to jobs, in this order, and drops the oldest chunks of a job that exceeds the bounds. Jobs that do not exist
   * are skipped. No lease is required, because the last lines of a run are written after it has ended.
   */
  append(chunks: readonly LogChunk[], bounds: LogBounds): Promise<void>
  /** The chunks of a job with lines after this number, oldest first, at most `limit` of them. */
  read(id: string, after: number, limit: number): Promise<readonly StoredLogChunk[]>
}

export interface LogChunk {
  readonly id: string
  /** 1 for the first run. */
  readonly attempt: number
  /** Number of lines in the text; at least 1. */
  readonly lines: number
  /** Number of lines dropped before these. They are counted in the numbering. */
  readonly dropped: number
  readonly text: string
}

export interface LogBounds {
  readonly lines: number
  /** Total size of a job's texts, as UTF-8. */
  readonly bytes: number
}

export interface StoredLogChunk {
  readonly attempt: number
  /** The numbers of its first and last line. */
  readonly first: number
  readonly last: number
  readonly text: string
}

/** The extent of a job's stored lines. */
export interface LogExtent {
  /** The number of the last line; 0 if there is none. */
  readonly last: number
  readonly lines: number
  readonly bytes: number
}

export const noLog: LogExtent = { last: 0, lines: 0, bytes: 0 }

/** A chunk with its position among the lines of its job. */
export interface PlacedLogChunk extends StoredLogChunk {
  readonly bytes: number
}

/** Places a chunk after a job's existing lines. */
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

/** The first line to keep, given a job's chunks, oldest first; all before it are dropped. The newest chunk is always kept. */
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
