import type { SqlRow } from '../sql/session.ts'
import { mostCharactersPerUnit } from './literals.ts'

/** A statement for more rows than this is slower to plan than it is to send another one. */
const mostRows = 500
/** The rest is left for the words around the values. */
const roomShare = 0.5

/** Rows in parts, each of which fits into a statement that the server takes. A row that is too large by itself is a part alone. */
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

/** At most this many bytes, also where texts are not plain. */
function sizeOf(row: SqlRow): number {
  let bytes = 0
  for (const value of Object.values(row))
    bytes += typeof value === 'string' ? value.length * mostCharactersPerUnit : bytesOfNumber
  return bytes
}
