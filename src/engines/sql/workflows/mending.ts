import { type Steps, wait } from '../../../core/answer.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { rowEnded } from '../rows/job-row.ts'
import type { LoadedJobs } from '../rows/loaded-jobs.ts'
import { stateNumber } from '../rows/tables.ts'
import type { SqlDatabase } from '../session.ts'
import type { Transactions } from '../transactions/transactions.ts'
import { type Edge, endOf } from './edges.ts'
import type { Endings } from './endings.ts'

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
  readonly #transactions: Transactions
  readonly #endings: Endings
  #last = fromTheStart

  constructor(database: SqlDatabase, transactions: Transactions, endings: Endings) {
    this.#database = database
    this.#transactions = transactions
    this.#endings = endings
  }

  /** Usually there is nothing to change, so it first looks without locking. */
  *mend(limit: number, time: QueueTime): Steps<MendReport> {
    const places = yield* this.#next(limit)
    const suspects = yield* this.#suspects(places)
    if (suspects.length === 0) return { looked: places.length, mended: 0 }
    const mended = yield* wait(this.#transactions.alone(time, (hand) => this.#mendAll(hand, suspects)))
    return { looked: places.length, mended }
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

  /** Returns the number of jobs that needed it: what was seen may have changed since. */
  *#mendAll(hand: LoadedJobs, suspects: readonly string[]): Steps<number> {
    yield* this.#endings.readWaiters(hand, suspects)
    const awaited = yield* hand.edges.awaitedBy(suspects)
    yield* hand.lock(awaited.map(({ target }) => target))
    const over = awaited.filter((edge) => isOver(hand, edge))
    yield* hand.readLeft(over.map(({ target }) => target))
    yield* this.#endings.hear(
      hand,
      over.map((edge) => ({ edge, end: endOf(hand.get(edge.target), hand.leftBy(edge.target)) })),
    )
    const alive = new Map<string, number>()
    for (const edge of awaited) if (!isOver(hand, edge)) alive.set(edge.waiter, (alive.get(edge.waiter) ?? 0) + 1)
    const wrong = yield* this.#recount(hand, suspects, alive)
    return new Set([...over.map(({ waiter }) => waiter), ...wrong]).size
  }

  /** Returns the jobs whose counts were wrong. */
  *#recount(hand: LoadedJobs, suspects: readonly string[], alive: ReadonlyMap<string, number>): Steps<readonly string[]> {
    const wrong = suspects.filter((id) => {
      const pending = alive.get(id) ?? 0
      const isBlocked = hand.get(id)?.state === stateNumber.blocked
      return isBlocked && (hand.waiters.get(id)?.pending !== pending || pending === 0)
    })
    for (const id of wrong) hand.waiters.change(id, { pending: alive.get(id) ?? 0 })
    yield* this.#endings.allEnded(
      hand,
      wrong.filter((id) => !alive.has(id)),
    )
    return wrong
  }
}

function isOver(hand: LoadedJobs, { target }: Edge): boolean {
  const row = hand.get(target)
  return row === undefined || rowEnded(row)
}
