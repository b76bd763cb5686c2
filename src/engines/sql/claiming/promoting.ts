import { type Answer, wait } from '../../../core/answer.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { CountChanges, type Counts } from '../lanes/counts.ts'
import type { Lanes } from '../lanes/lanes.ts'
import type { Groups } from '../limits/groups.ts'
import { stateNumber } from '../rows/tables.ts'
import type { SqlDatabase } from '../session.ts'

const promotionsPerCall = 1_000

interface PromotingParts {
  readonly database: SqlDatabase
  readonly lanes: Lanes
  readonly counts: Counts
  readonly groups: Groups
}

/** Makes scheduled jobs ready when they are due. */
export class Promoting {
  readonly #parts: PromotingParts

  constructor(parts: PromotingParts) {
    this.#parts = parts
  }

  /** False if more jobs may be due than were promoted now. Jobs that another program has locked are left to it. */
  promote(time: QueueTime): Answer<boolean> {
    const { database, lanes, counts, groups } = this.#parts
    return database.transaction(function* (session) {
      const { from, is, at } = session.dialect.inState(stateNumber.scheduled)
      const due = yield* wait(
        session.all<{ id: string; lane: number; grp: string }>(
          `SELECT id, lane, grp FROM ${from} WHERE ${is} AND ${at} <= ? ORDER BY ${at}, id LIMIT ${promotionsPerCall} FOR UPDATE SKIP LOCKED`,
          [time.now()],
        ),
      )
      if (due.length === 0) return true
      yield* wait(
        session.run(`UPDATE {jobs by PRIMARY} SET state = ${stateNumber.ready} WHERE id IN (?)`, [
          due.map(({ id }) => id).sort(),
        ]),
      )
      yield* lanes.numbered(
        session,
        due.map(({ lane }) => lane),
      )
      yield* groups.arrive(
        session,
        due.filter(({ lane }) => lanes.get(lane).grouped === 1),
      )
      const changes = new CountChanges()
      for (const { lane } of due) changes.move(lane, stateNumber.scheduled, stateNumber.ready)
      yield* changes.write(session, counts)
      return due.length < promotionsPerCall
    })
  }
}
