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
  /** 1 where its jobs are occurrences of a schedule. */
  readonly recurring: number
}

const states = Object.keys(stateNumber) as JobState[]

/** The groups that jobs stand in, and the kept counts of each: changed in the transaction that changes the jobs. */
export class Lanes {
  readonly #numbers = new Map<string, number>()
  readonly #byNumber = new Map<number, Lane>()
  readonly #changes = new Map<number, number[]>()
  readonly #find: SqliteStatement
  readonly #insert: SqliteStatement
  readonly #get: SqliteStatement
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
    this.#get = connection.prepare('SELECT lane, queue, job, priority, single, recurring FROM treadle_lanes WHERE lane = ?')
    this.#count = connection.prepare(
      `UPDATE treadle_lanes SET ${states.map((state) => `${state} = ${state} + ?`).join(', ')} WHERE lane = ?`,
    )
    this.#ready = connection.prepare(
      `SELECT json_group_array(lane) AS lanes FROM (
         SELECT lane FROM treadle_lanes INDEXED BY treadle_lanes_ready
         WHERE ready > 0 AND queue NOT IN (SELECT queue FROM treadle_paused) ORDER BY priority DESC)`,
    )
    this.#running = connection.prepare('SELECT coalesce(sum(running), 0) AS running FROM treadle_lanes WHERE job = ?')
    this.#all = connection.prepare('SELECT * FROM treadle_lanes')
  }

  /** The lane's number; a new lane is made on the way. Only inside a transaction. */
  numberOf(queue: string, job: string, priority: number, single: boolean, recurring: boolean): number {
    const key = `${queue}\n${job}\n${priority}\n${single}\n${recurring}`
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    const values = [queue, job, priority, single ? 1 : 0, recurring ? 1 : 0] as const
    const { lane } = (this.#find.get(...values) ?? this.#insert.get(...values)) as { lane: number }
    this.#numbers.set(key, lane)
    return lane
  }

  /** Whether its jobs are occurrences of a schedule. */
  isRecurring(lane: number): boolean {
    return this.#lane(lane)?.recurring === 1
  }

  /** Those with ready jobs that are not paused, best first. */
  ready(): readonly Lane[] {
    const { lanes } = this.#ready.get() as { lanes: string }
    return (JSON.parse(lanes) as number[]).map((lane) => this.#lane(lane) as Lane)
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
    this.#numbers.clear()
    this.#byNumber.clear()
  }

  /** But for its counts a lane never changes, so each is asked for once. */
  #lane(number: number): Lane | undefined {
    const known = this.#byNumber.get(number)
    if (known !== undefined) return known
    const found = this.#get.get(number) as Lane | undefined
    if (found !== undefined) this.#byNumber.set(number, found)
    return found
  }
}
