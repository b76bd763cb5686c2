import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'
import type { Lane } from './lane.ts'
import { stateNumber } from './schema.ts'

/** A group with ready jobs, as its lane has it. */
export interface WaitingGroup {
  readonly lane: number
  readonly group: string
  readonly busy: number
  readonly turn: number
}

const states = Object.keys(stateNumber)
const releasesPerCall = 1_000

/** The lanes of groups. There may be very many, and each is gone with its last job: nothing of them is remembered after a transaction. */
export class GroupLanes {
  /** By family and group, of those that this transaction has met. */
  readonly #numbers = new Map<string, number>()
  readonly #made: number[] = []
  readonly #families = new Map<number, number[]>()
  /** The turns that this transaction gave: of the groups that it served, and the last one of each family. */
  readonly #turns = new Map<number, number>()
  readonly #find: SqliteStatement
  readonly #insert: SqliteStatement
  readonly #write: SqliteStatement
  readonly #writeBusy: SqliteStatement
  readonly #drop: SqliteStatement
  readonly #turnOf: SqliteStatement
  readonly #busyOf: SqliteStatement
  readonly #writeTurn: SqliteStatement
  readonly #waiting: SqliteStatement
  readonly #hold: SqliteStatement
  readonly #release: SqliteStatement

  constructor(connection: Connection) {
    this.#find = connection.prepare(
      `SELECT lane FROM treadle_lanes
       WHERE queue = ? AND job = ? AND priority = ? AND single = ? AND recurring = ? AND grouped = 1 AND grp = ?`,
    )
    // What its group has in other queues and priorities counts for this lane too.
    this.#insert = connection.prepare(
      `INSERT INTO treadle_lanes (queue, job, priority, single, recurring, grp, family, grouped, busy, held_until)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1,
         (SELECT coalesce(max(busy), 0) FROM treadle_lanes WHERE job = ?2 AND grp = ?6 AND family > 0),
         (SELECT max(held_until) FROM treadle_lanes WHERE job = ?2 AND grp = ?6 AND family > 0)) RETURNING lane`,
    )
    // A group that has just got work stands behind those that wait, but before those that are served from now on.
    this.#write = connection.prepare(
      `UPDATE treadle_lanes SET ${states.map((state) => `${state} = ${state} + ?`).join(', ')},
         turn = coalesce(?, CASE WHEN ready > 0 THEN turn
           ELSE (SELECT turn FROM treadle_lanes AS family WHERE family.lane = treadle_lanes.family) END)
       WHERE lane = ?`,
    )
    this.#writeBusy = connection.prepare('UPDATE treadle_lanes SET busy = busy + ? WHERE job = ? AND grp = ? AND family > 0')
    this.#drop = connection.prepare(`DELETE FROM treadle_lanes WHERE lane = ? AND ${states.join(' + ')} = 0`)
    this.#turnOf = connection.prepare('SELECT turn FROM treadle_lanes WHERE lane = ?')
    this.#busyOf = connection.prepare('SELECT busy FROM treadle_lanes WHERE lane = ?')
    this.#writeTurn = connection.prepare('UPDATE treadle_lanes SET turn = ? WHERE lane = ?')
    this.#waiting = connection.prepare(
      `SELECT json_group_array(json_array(lane, grp, busy, turn)) AS groups FROM (
         SELECT lane, grp, busy, turn FROM treadle_lanes INDEXED BY treadle_lanes_turns
         WHERE family = ?1 AND family > 0 AND ready > 0 AND held_until IS NULL AND busy < ?2
         ORDER BY busy, turn LIMIT ?3 + 0 OFFSET ?4 + 0)`,
    )
    this.#hold = connection.prepare('UPDATE treadle_lanes SET held_until = ? WHERE job = ? AND grp = ? AND family > 0')
    this.#release = connection.prepare(
      `UPDATE treadle_lanes SET held_until = NULL WHERE lane IN (
         SELECT lane FROM treadle_lanes INDEXED BY treadle_lanes_held
         WHERE held_until <= ? AND held_until IS NOT NULL AND ready > 0 ORDER BY held_until LIMIT ${releasesPerCall})`,
    )
  }

  /** The number of the group's lane; a new lane is made on the way. */
  numberOf({ lane: family, queue, job, priority, single, recurring }: Lane, group: string): number {
    const key = `${family}\n${group}`
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    const values = [queue, job, priority, single, recurring, group] as const
    const found = this.#find.get(...values) as { lane: number } | undefined
    const { lane } = found ?? (this.#insert.get(...values, family) as { lane: number })
    if (found === undefined) this.#made.push(lane)
    this.#numbers.set(key, lane)
    return lane
  }

  /** Groups with ready jobs of which fewer than this run, in the order in which they are to be served: so many, after so many. */
  waiting(family: number, busyBelow: number, count: number, after: number): readonly WaitingGroup[] {
    const { groups } = this.#waiting.get(family, busyBelow, count, after) as { groups: string }
    return (JSON.parse(groups) as [number, string, number, number][]).map(([lane, group, busy, turn]) => ({
      lane,
      group,
      busy,
      turn,
    }))
  }

  /** Gives the group its next turn behind all others of its family. */
  serve({ lane, family }: Lane): number {
    const turn = (this.#turns.get(family) ?? (this.#turnOf.get(family) as { turn: number }).turn) + 1
    this.#turns.set(family, turn)
    this.#turns.set(lane, turn)
    return turn
  }

  /** How many jobs of the lane's group run, over all of its lanes. */
  busyOf({ lane }: Lane): number {
    return (this.#busyOf.get(lane) as { busy: number }).busy
  }

  /** Takes a group out of those that wait. */
  hold({ job, grp }: Lane, until: number): void {
    this.#hold.run(until, job, grp)
  }

  /** Puts groups back whose time has come; false when there may be more. */
  release(now: number): boolean {
    return Number(this.#release.run(now).changes) < releasesPerCall
  }

  /** Writes changed counts of a group's lane. */
  write({ lane, family, job, grp }: Lane, changes: readonly number[]): void {
    this.#write.run(...changes, this.#turns.get(lane) ?? null, lane)
    const started = changes[stateNumber.running] as number
    if (started !== 0) this.#writeBusy.run(started, job, grp)
    if (!changes.some((change) => change > 0)) this.#drop.run(lane)
    const sums = this.#families.get(family)
    this.#families.set(
      family,
      changes.map((change, state) => change + (sums?.[state] ?? 0)),
    )
  }

  /** Writes what the groups of each family come to, once all of them are written. */
  writeFamilies(count: (family: number, changes: readonly number[]) => void): void {
    if (this.#families.size === 0 && this.#numbers.size === 0) return
    for (const [family, changes] of this.#families) {
      count(family, changes)
      const turn = this.#turns.get(family)
      if (turn !== undefined) this.#writeTurn.run(turn, family)
    }
    // A lane is made before it is known whether its job is stored.
    for (const lane of this.#made) this.#drop.run(lane)
    this.forget()
  }

  forget(): void {
    this.#numbers.clear()
    this.#made.length = 0
    this.#families.clear()
    this.#turns.clear()
  }
}
