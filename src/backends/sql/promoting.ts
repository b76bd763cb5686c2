import { CountChanges, type Counts } from './counts.ts'
import type { Groups } from './groups.ts'
import type { Lanes } from './lanes.ts'
import type { QueueTime } from './queue-time.ts'
import type { SqlDatabase } from './session.ts'
import { stateNumber } from './tables.ts'

const promotionsPerCall = 1_000

interface PromotingParts {
  readonly database: SqlDatabase
  readonly lanes: Lanes
  readonly counts: Counts
  readonly groups: Groups
}

/** Makes scheduled jobs ready whose time has come. */
export class Promoting {
  readonly #parts: PromotingParts

  constructor(parts: PromotingParts) {
    this.#parts = parts
  }

  /** False when there may be more than were promoted now. Those that another program is at are left to it. */
  promote(time: QueueTime): Promise<boolean> {
    const { database, lanes, counts, groups } = this.#parts
    return database.transaction(async (session) => {
      const { from, is, at } = session.dialect.inState(stateNumber.scheduled)
      const due = await session.all<{ id: string; lane: number; grp: string }>(
        `SELECT id, lane, grp FROM ${from} WHERE ${is} AND ${at} <= ? ORDER BY ${at} LIMIT ${promotionsPerCall} FOR UPDATE SKIP LOCKED`,
        [time.now()],
      )
      if (due.length === 0) return true
      await session.run(`UPDATE {jobs by PRIMARY} SET state = ${stateNumber.ready} WHERE id IN (?)`, [
        due.map(({ id }) => id).sort(),
      ])
      await lanes.numbered(
        session,
        due.map(({ lane }) => lane),
      )
      await groups.arrive(
        session,
        due.filter(({ lane }) => lanes.get(lane).grouped === 1),
      )
      const changes = new CountChanges()
      for (const { lane } of due) changes.move(lane, stateNumber.scheduled, stateNumber.ready)
      await changes.write(session, counts)
      return due.length < promotionsPerCall
    })
  }
}
