import type { JobState } from '../store.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'
import { stateNumber } from './schema.ts'

export interface Lane {
  readonly lane: number
  readonly queue: string
  readonly job: string
  readonly priority: number
  readonly single: number
}

export interface ReadyLane extends Lane {
  readonly ready: number
}

const states = Object.keys(stateNumber) as JobState[]

/** The groups that jobs stand in, and the kept counts of each: changed in the transaction that changes the jobs. */
export class Lanes {
  readonly #known = new Map<string, number>()
  readonly #recurring = new Map<number, boolean>()
  readonly #changes = new Map<number, number[]>()
  readonly #find: SqliteStatement
  readonly #insert: SqliteStatement
  readonly #isRecurring: SqliteStatement
  readonly #count: SqliteStatement
  readonly #ready: SqliteStatement
  readonly #running: SqliteStatement
  readonly #all: SqliteStatement

  constructor(connection: Connection) {
    this.#find = connection.prepare(
      'SELECT lane FROM treadle_lanes WHERE queue = ? AND job = ? AND priority = ? AND single = ? AND recurring = ?',
    )
    this.#insert = connection.prepare(
      'INSERT INTO treadle_lanes (queue, job, priority, single, recurring) VALUES (?, ?, ?, ?, ?) RETURNING lane',
    )
    this.#isRecurring = connection.prepare('SELECT recurring FROM treadle_lanes WHERE lane = ?')
    this.#count = connection.prepare(
      `UPDATE treadle_lanes SET ${states.map((state) => `${state} = ${state} + ?`).join(', ')} WHERE lane = ?`,
    )
    this.#ready = connection.prepare(
      `SELECT lane, queue, job, priority, single, ready FROM treadle_lanes
       WHERE ready > 0 AND queue NOT IN (SELECT queue FROM treadle_paused) ORDER BY priority DESC`,
    )
    this.#running = connection.prepare('SELECT coalesce(sum(running), 0) AS running FROM treadle_lanes WHERE job = ?')
    this.#all = connection.prepare('SELECT * FROM treadle_lanes')
  }

  /** The lane's number; a new lane is made on the way. Only inside a transaction. */
  numberOf(queue: string, job: string, priority: number, single: boolean, recurring: boolean): number {
    const key = `${queue}\n${job}\n${priority}\n${single}\n${recurring}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const values = [queue, job, priority, single ? 1 : 0, recurring ? 1 : 0] as const
    const { lane } = (this.#find.get(...values) ?? this.#insert.get(...values)) as { lane: number }
    this.#known.set(key, lane)
    return lane
  }

  /** Whether its jobs are occurrences of a schedule. A lane is that or not for ever, so each is asked for once. */
  isRecurring(lane: number): boolean {
    const known = this.#recurring.get(lane)
    if (known !== undefined) return known
    const found = this.#isRecurring.get(lane) as { recurring: number } | undefined
    if (found !== undefined) this.#recurring.set(lane, found.recurring === 1)
    return found?.recurring === 1
  }

  /** Not paused, best first. */
  ready(): readonly ReadyLane[] {
    return this.#ready.all() as ReadyLane[]
  }

  runningOf(job: string): number {
    return (this.#running.get(job) as { running: number }).running
  }

  all(): readonly (Lane & Record<JobState, number>)[] {
    return this.#all.all() as (Lane & Record<JobState, number>)[]
  }

  add(lane: number, state: number, count: number): void {
    const changes = this.#changes.get(lane) ?? new Array<number>(states.length).fill(0)
    changes[state] = (changes[state] as number) + count
    this.#changes.set(lane, changes)
  }

  move(lane: number, from: number, to: number, count = 1): void {
    this.add(lane, from, -count)
    this.add(lane, to, count)
  }

  /** Writes the counts that the transaction changed; the last thing before its commit. */
  writeCounts(): void {
    for (const [lane, changes] of this.#changes) {
      if (changes.some((change) => change !== 0)) this.#count.run(...changes, lane)
    }
    this.#changes.clear()
  }

  /** After a rollback: lanes that were made and counts that were changed never were. */
  forget(): void {
    this.#changes.clear()
    this.#known.clear()
    this.#recurring.clear()
  }
}
