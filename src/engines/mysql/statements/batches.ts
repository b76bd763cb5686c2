import type { SqlRow } from '../../sql/session.ts'
import { mostCharactersPerUnit } from './literals.ts'

/** Maximum number of rows per statement: beyond it, planning takes longer than sending another statement. */
const mostRows = 500
/** Share of the packet for the values; the rest is for the SQL around them. */
const roomShare = 0.5

/**
 * Splits rows into batches that each fit into a statement the server accepts. A row that is too large by itself gets its own
 * batch.
 */
export function inBatches(rows: readonly SqlRow[], maxPacketBytes: number): readonly (readonly SqlRow[])[] {
  const batches: SqlRow[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const row of rows) {
    const size = sizeOf(row)
    const last = batches.at(-1)
    if (last === undefined || last.length === mostRows || bytes + size > maxPacketBytes * roomShare) {
      batches.push([row])
      bytes = size
    } else {
      last.push(row)
      bytes += size
    }
  }
  return batches
}

const bytesOfNumber = 20

/** An upper bound in bytes, even for non-ASCII text. */
function sizeOf(row: SqlRow): number {
  let bytes = 0
  for (const value of Object.values(row))
    bytes += typeof value === 'string' ? value.length * mostCharactersPerUnit : bytesOfNumber
  return bytes
}
