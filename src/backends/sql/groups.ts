import { randomToken } from '../../core/id.ts'
import type { SqlSession } from './session.ts'

/** A group of a lane that may have ready jobs. */
export interface GroupRow {
  readonly lane: number
  readonly grp: string
  readonly turn: number
  readonly version: string
}

/** Where a job of a group stands. */
export interface Place {
  readonly id: string
  readonly lane: number
  readonly grp: string
}

/**
 * Which groups of a lane may have ready jobs, and whose turn it is. Whoever makes a job of a group ready says so here, in the same
 * transaction; only a claim, which is alone in what it does, drops a group whose last ready job it took.
 */
export class Groups {
  /** A group that has just got work stands behind those that wait, but before those that are served from now on. */
  async arrive(session: SqlSession, places: readonly Place[]): Promise<void> {
    if (places.length === 0) return
    const distinct = new Map(places.map(({ lane, grp }) => [`${lane}\n${grp}`, { lane, grp }]))
    const sorted = [...distinct.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, place]) => place)
    const turns = await this.turnsOf(session, [...new Set(sorted.map(({ lane }) => lane))])
    const version = randomToken()
    const rows = sorted.map(({ lane, grp }) => ({ lane, grp, turn: (turns.get(lane) ?? 0) - 1, version }))
    await session.upsert('groups', ['lane', 'grp', 'turn', 'version'], rows, ['lane', 'grp'], ['version'])
  }

  /** The turn that was given last in each of these lanes. Turns are even: between two of them there is a place for those that arrive. */
  async turnsOf(session: SqlSession, lanes: readonly number[]): Promise<ReadonlyMap<number, number>> {
    const rows = await session.all<{ lane: number; turn: number }>('SELECT lane, turn FROM {lanes} WHERE lane IN (?)', [lanes])
    return new Map(rows.map(({ lane, turn }) => [lane, turn]))
  }

  /** Those that are not held, the one first that was served longest ago. */
  first(session: SqlSession, lane: number, limit: number): Promise<readonly GroupRow[]> {
    return session.all<GroupRow>(
      'SELECT lane, grp, turn, version FROM {groups} WHERE lane = ? AND held_until = 0 ORDER BY turn LIMIT ?',
      [lane, limit],
    )
  }

  /** Those of these groups that are not held. */
  named(session: SqlSession, lane: number, groups: readonly string[]): Promise<readonly GroupRow[]> {
    return session.all<GroupRow>(
      'SELECT lane, grp, turn, version FROM {groups} WHERE lane = ? AND held_until = 0 AND grp IN (?)',
      [lane, groups],
    )
  }

  /** Takes a group, in all lanes of its key, out of those that wait. */
  async hold(session: SqlSession, lanes: readonly number[], group: string, until: number): Promise<void> {
    await session.run('UPDATE {groups} SET held_until = ? WHERE lane IN (?) AND grp = ?', [until, lanes, group])
  }

  /** Puts groups back whose time has come. */
  async release(session: SqlSession, now: number): Promise<void> {
    await session.run('UPDATE {groups} SET held_until = 0 WHERE held_until > 0 AND held_until <= ?', [now])
  }

  async serve(session: SqlSession, served: readonly GroupRow[], lastTurns: ReadonlyMap<number, number>): Promise<void> {
    const rows = served.map(({ lane, grp, turn }) => ({ lane, grp, turn }))
    await session.update('groups', ['lane', 'grp'], ['turn'], rows)
    const lanes = [...lastTurns].map(([lane, turn]) => ({ lane, turn }))
    await session.update('lanes', ['lane'], ['turn'], lanes)
  }

  /** Drops groups without ready jobs, unless a job has arrived since they were read. */
  async drop(session: SqlSession, empty: readonly GroupRow[]): Promise<void> {
    for (const { lane, grp, version } of empty) {
      await session.run('DELETE FROM {groups} WHERE lane = ? AND grp = ? AND version = ?', [lane, grp, version])
    }
  }
}
