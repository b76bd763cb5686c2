import { TreadleError } from '../../core/errors.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'

/** So many jobs can be made in one millisecond, over all processes. */
const slotsPerMs = 4_096
/** After so many full slots the next millisecond is tried, for so many of them. */
const probesPerMs = 64
const mostMs = 16
// With this beginning, slots of the years 1970 to 2089 are whole numbers that JavaScript holds exactly.
const epochMs = Date.UTC(2020, 0, 1)

/**
 * The row of a job, out of its id alone: an id tells the millisecond and the number within it. That spares the index by id,
 * which would cost as much as the job itself. Where two processes took the same number, the later one is in another slot
 * nearby.
 */
export class Addresses {
  readonly #at: SqliteStatement
  readonly #near: SqliteStatement

  constructor(connection: Connection) {
    this.#at = connection.prepare('SELECT seq FROM treadle_jobs WHERE seq = ? AND id = ?')
    this.#near = connection.prepare('SELECT seq FROM treadle_jobs WHERE seq BETWEEN ? AND ? AND id = ?')
  }

  /** The row of a stored job, or undefined when there is none with this id. */
  find(id: string): number | undefined {
    if (!isTimed(id)) return undefined
    const first = firstSlot(id)
    const found = this.#at.get(slotOf(id, 0), id) ?? this.#near.get(first, first + slotsPerMs * mostMs - 1, id)
    return (found as { seq: number } | undefined)?.seq
  }
}

/** The row that a new job is to have; another one for each probe. */
export function slotOf(id: string, probe: number): number {
  if (!isTimed(id)) throw new TreadleError('ENVELOPE_MALFORMED', `The id of a job must be a UUID of version 7, got "${id}"`)
  const number = Number.parseInt(id.slice(15, 18), 16)
  if (probe === 0) return firstSlot(id) + number
  // The random part of the id leads two jobs that met apart again; odd, so that it comes by every slot.
  const step = Number.parseInt(id.slice(30, 36), 16) | 1
  const laterMs = Math.floor(probe / probesPerMs)
  if (laterMs >= mostMs) throw new TreadleError('DATABASE_FAILED', 'Too many jobs were made in the same millisecond')
  return firstSlot(id) + laterMs * slotsPerMs + ((number + probe * step) % slotsPerMs)
}

function firstSlot(id: string): number {
  return (Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) - epochMs) * slotsPerMs
}

function isTimed(id: string): boolean {
  return id.length === 36 && id.charCodeAt(14) === 0x37 && uuid.test(id)
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/
