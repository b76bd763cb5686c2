import { type Steps, wait } from '../../../core/answer.ts'
import { mend } from '../../../queue/rules/workflows/mending.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import type { SqlDatabase } from '../session.ts'
import type { LoadedQueue } from '../units/loaded/loaded-queue.ts'
import { needs } from '../units/reading/needs.ts'
import type { Units } from '../units/units.ts'

interface BlockedPlace {
  readonly id: string
  readonly gives_up_at: number
  readonly pending: number
}

interface Awaited {
  readonly waiter: string
  readonly edges: number
  /** How many of them lead to no living job. */
  readonly in_vain: number
}

const fromTheStart = { gives_up_at: -1, id: '00000000-0000-0000-0000-000000000000' }

export interface MendReport {
  /** Fewer than the limit when the end is reached; the next call starts over. */
  readonly looked: number
  readonly mended: number
}

/** Repairs what jobs wait for if the tables were inconsistent. */
export class Mending {
  readonly #database: SqlDatabase
  readonly #units: Units
  #last = fromTheStart

  constructor(database: SqlDatabase, units: Units) {
    this.#database = database
    this.#units = units
  }

  /** Usually there is nothing to change, so it first looks without locking. */
  *mend(limit: number, time: QueueTime): Steps<MendReport> {
    const places = yield* this.#next(limit)
    const suspects = yield* this.#suspects(places)
    if (suspects.length === 0) return { looked: places.length, mended: 0 }
    const { answer } = yield* wait(this.#units.alone(time, (unit) => unit.decide(suspects, (queue) => mendAll(queue, suspects))))
    return { looked: places.length, mended: answer }
  }

  /** The jobs that give up first come first. */
  *#next(limit: number): Steps<readonly BlockedPlace[]> {
    const { gives_up_at, id } = this.#last
    const rows = yield* wait(
      this.#database.all<BlockedPlace>(
        `SELECT id, gives_up_at, pending FROM {links}
       WHERE gives_up_at IS NOT NULL AND gives_up_at >= ? AND (gives_up_at > ? OR id > ?) ORDER BY gives_up_at, id LIMIT ?`,
        [gives_up_at, gives_up_at, id, limit],
      ),
    )
    this.#last = rows.length < limit ? fromTheStart : (rows.at(-1) ?? fromTheStart)
    return rows
  }

  /** Jobs whose counts do not match their edges. */
  *#suspects(places: readonly BlockedPlace[]): Steps<readonly string[]> {
    if (places.length === 0) return []
    const rows = yield* wait(
      this.#database.all<Awaited>(
        `SELECT edges.waiter, COUNT(*) AS edges, COUNT(CASE WHEN jobs.id IS NULL OR jobs.state > 3 THEN 1 END) AS in_vain
       FROM {edges} AS edges LEFT JOIN {jobs} AS jobs ON jobs.id = edges.target
       WHERE edges.waiter IN (?) AND edges.waiting = 1 GROUP BY edges.waiter`,
        [places.map(({ id }) => id)],
      ),
    )
    const awaited = new Map(rows.map((row) => [row.waiter, row]))
    const isSound = ({ id, pending }: BlockedPlace) => awaited.get(id)?.edges === pending && awaited.get(id)?.in_vain === 0
    return places.filter((place) => !isSound(place)).map(({ id }) => id)
  }
}

/** Returns the number of jobs that needed it: what was seen may have changed since. */
function mendAll(queue: LoadedQueue, suspects: readonly string[]): number {
  queue.want(needs('awaited', suspects))
  return mend(suspects, queue.rules)
}
