import { type Answer, type Steps, wait } from '../../../core/answer.ts'
import { randomToken } from '../../../core/id.ts'
import type { SqlRow, SqlSession } from '../session.ts'

/** A group in a lane that may have ready jobs. */
export interface GroupRow {
  readonly lane: number
  readonly grp: string
  readonly turn: number
  readonly version: string
}

/** The place of a job in a group. */
export interface Place {
  readonly id: string
  readonly lane: number
  readonly grp: string
}

const latestTurn = 2 ** 52

/**
 * Which groups of a lane may have ready jobs, and whose turn it is. A transaction that makes a job of a group ready adds the
 * group here, and one that takes its last ready job drops it, so that the group goes to the end of the line when it arrives
 * again.
 */
export class Groups {
  /**
   * A group that just got work goes behind all waiting groups, whatever the times of its jobs. Groups that arrive together keep
   * their order.
   */
  *arrive(session: SqlSession, places: readonly Place[]): Steps<void> {
    if (places.length === 0) return
    const turns = new Map(yield* this.turnsOf(session, [...new Set(places.map(({ lane }) => lane))]))
    const version = randomToken()
    const rows = new Map<string, SqlRow>()
    for (const { lane, grp } of places) {
      const key = `${lane}\n${grp}`
      if (rows.has(key)) continue
      const turn = (turns.get(lane) ?? 0) + 1
      turns.set(lane, turn)
      rows.set(key, { lane, grp, turn, version })
    }
    const sorted = [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
    yield* wait(session.upsert('groups', ['lane', 'grp', 'turn', 'version'], sorted, ['lane', 'grp'], ['version']))
  }

  /**
   * Jobs have left these groups without a claim. A group loses its turn if no jobs are ready but these others, which have just
   * arrived or are about to be deleted.
   */
  *leave(session: SqlSession, places: readonly Place[], others: readonly Place[] = []): Steps<void> {
    if (places.length === 0) return
    const lanes = [...new Set(places.map(({ lane }) => lane))]
    const names = [...new Set(places.map(({ grp }) => grp))]
    const left = new Set(places.map(({ lane, grp }) => `${lane}\n${grp}`))
    const known = yield* wait(
      session.all<GroupRow>('SELECT lane, grp, turn, version FROM {groups} WHERE lane IN (?) AND grp IN (?)', [lanes, names]),
    )
    yield* this.dropEmpty(
      session,
      known.filter(({ lane, grp }) => left.has(`${lane}\n${grp}`)),
      others.filter(({ lane, grp }) => left.has(`${lane}\n${grp}`)),
    )
  }

  /** Drops the groups that have no ready jobs but these. */
  *dropEmpty(session: SqlSession, groups: readonly GroupRow[], others: readonly Place[] = []): Steps<void> {
    if (groups.length === 0) return
    const ignored = new Set(others.map(({ id }) => id))
    const firsts = yield* wait(session.dialect.firstReady(session, groups, 1 + ignored.size))
    yield* this.drop(
      session,
      groups.filter((_, index) => (firsts[index] ?? []).every(({ id }) => ignored.has(id))),
    )
  }

  /**
   * The last turn of each of these lanes: that of the group that was served last or arrived last. Uses the index, because there
   * may be any number of groups. A turn that no queue comes to was written by somebody else, and does not count.
   */
  *turnsOf(session: SqlSession, lanes: readonly number[]): Steps<ReadonlyMap<number, number>> {
    if (lanes.length === 0) return new Map()
    const rows = yield* wait(
      session.all<{ lane: number; turn: number; last: number | null }>(
        `SELECT lanes.lane, lanes.turn, (SELECT waiting.turn FROM {groups} AS waiting
           WHERE waiting.lane = lanes.lane AND waiting.held_until = 0 AND waiting.turn <= ${latestTurn}
           ORDER BY waiting.turn DESC LIMIT 1) AS last
         FROM {lanes} AS lanes WHERE lanes.lane IN (?)`,
        [lanes],
      ),
    )
    return new Map(rows.map(({ lane, turn, last }) => [lane, Math.max(turn <= latestTurn ? turn : 0, last ?? 0, 0)]))
  }

  /** Groups that are not held, least recently served first. */
  first(session: SqlSession, lane: number, limit: number): Answer<readonly GroupRow[]> {
    return session.all<GroupRow>(
      'SELECT lane, grp, turn, version FROM {groups} WHERE lane = ? AND held_until = 0 ORDER BY turn LIMIT ?',
      [lane, limit],
    )
  }

  /** Those of these groups that are not held. */
  named(session: SqlSession, lane: number, groups: readonly string[]): Answer<readonly GroupRow[]> {
    return session.all<GroupRow>(
      'SELECT lane, grp, turn, version FROM {groups} WHERE lane = ? AND held_until = 0 AND grp IN (?)',
      [lane, groups],
    )
  }

  /** Takes a group out of the waiting ones, in all lanes of its key. */
  *hold(session: SqlSession, lanes: readonly number[], group: string, until: number): Steps<void> {
    yield* wait(session.run('UPDATE {groups} SET held_until = ? WHERE lane IN (?) AND grp = ?', [until, lanes, group]))
  }

  /** Puts groups back when their hold is over. */
  *release(session: SqlSession, now: number): Steps<void> {
    yield* wait(session.run('UPDATE {groups} SET held_until = 0 WHERE held_until > 0 AND held_until <= ?', [now]))
  }

  *serve(session: SqlSession, served: readonly GroupRow[], lastTurns: ReadonlyMap<number, number>): Steps<void> {
    const rows = served.map(({ lane, grp, turn }) => ({ lane, grp, turn }))
    yield* wait(session.update('groups', ['lane', 'grp'], ['turn'], rows))
    const lanes = [...lastTurns].map(([lane, turn]) => ({ lane, turn }))
    yield* wait(session.update('lanes', ['lane'], ['turn'], lanes))
  }

  /** Drops groups without ready jobs, unless a job has arrived since they were read. */
  *drop(session: SqlSession, empty: readonly GroupRow[]): Steps<void> {
    for (const { lane, grp, version } of empty) {
      yield* wait(session.run('DELETE FROM {groups} WHERE lane = ? AND grp = ? AND version = ?', [lane, grp, version]))
    }
  }
}
