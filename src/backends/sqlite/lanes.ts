import type { JobState } from '../job-state.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'
import { GroupLanes } from './group-lanes.ts'
import type { Lane } from './lane.ts'
import { stateNumber } from './schema.ts'

const states = Object.keys(stateNumber) as JobState[]

const columns = 'lane, queue, job, priority, single, recurring, grouped, family, grp'
/** Groups come and go: no more lanes than this are remembered. */
const mostRemembered = 20_000

/** What jobs stand in, and the kept counts of each: changed in the transaction that changes the jobs. */
export class Lanes {
  readonly groups: GroupLanes
  readonly #numbers = new Map<string, number>()
  readonly #byNumber = new Map<number, Lane>()
  readonly #changes = new Map<number, number[]>()
  readonly #find: SqliteStatement
  readonly #insert: SqliteStatement
  readonly #get: SqliteStatement
  readonly #count: SqliteStatement
  readonly #open: SqliteStatement
  readonly #ready: SqliteStatement
  readonly #running: SqliteStatement
  readonly #runningIn: SqliteStatement
  readonly #all: SqliteStatement

  constructor(connection: Connection) {
    this.groups = new GroupLanes(connection)
    this.#find = connection.prepare(
      `SELECT lane FROM treadle_lanes
       WHERE queue = ? AND job = ? AND priority = ? AND single = ? AND recurring = ? AND grouped = ? AND grp = ''`,
    )
    this.#insert = connection.prepare(
      'INSERT INTO treadle_lanes (queue, job, priority, single, recurring, grouped) VALUES (?, ?, ?, ?, ?, ?) RETURNING lane',
    )
    this.#get = connection.prepare(`SELECT ${columns} FROM treadle_lanes WHERE lane = ?`)
    this.#count = connection.prepare(
      `UPDATE treadle_lanes SET ${states.map((state) => `${state} = ${state} + ?`).join(', ')} WHERE lane = ?
       RETURNING ready > 0 AS isOpen, open`,
    )
    this.#open = connection.prepare('UPDATE treadle_lanes SET open = ? WHERE lane = ?')
    this.#ready = connection.prepare(
      `SELECT json_group_array(lane) AS lanes FROM (
         SELECT lane FROM treadle_lanes INDEXED BY treadle_lanes_open
         WHERE family = 0 AND open = 1 AND queue NOT IN (SELECT queue FROM treadle_paused) ORDER BY priority DESC)`,
    )
    const running = 'SELECT coalesce(sum(running), 0) AS running FROM treadle_lanes'
    this.#running = connection.prepare(`${running} INDEXED BY treadle_lanes_job WHERE job = ? AND family = 0`)
    this.#runningIn = connection.prepare(`${running} INDEXED BY treadle_lanes_queue WHERE queue = ? AND family = 0`)
    this.#all = connection.prepare('SELECT * FROM treadle_lanes INDEXED BY treadle_lanes_job WHERE family = 0')
  }

  /** The lane's number; a new lane is made on the way. Only inside a transaction. */
  numberOf(
    queue: string,
    job: string,
    priority: number,
    single: boolean,
    recurring: boolean,
    group: string | null = null,
  ): number {
    const key = `${queue}\n${job}\n${priority}\n${single}\n${recurring}\n${group !== null}`
    let lane = this.#numbers.get(key)
    if (lane === undefined) {
      const values = [queue, job, priority, single ? 1 : 0, recurring ? 1 : 0, group === null ? 0 : 1] as const
      lane = ((this.#find.get(...values) ?? this.#insert.get(...values)) as { lane: number }).lane
      this.#numbers.set(key, lane)
    }
    return group === null ? lane : this.groups.numberOf(this.get(lane) as Lane, group)
  }

  /** But for its counts a lane never changes, so each is asked for once. */
  get(number: number): Lane | undefined {
    const known = this.#byNumber.get(number)
    if (known !== undefined) return known
    const found = this.#get.get(number) as Lane | undefined
    if (this.#byNumber.size >= mostRemembered) this.#byNumber.clear()
    if (found !== undefined) this.#byNumber.set(number, found)
    return found
  }

  /** Whether its jobs are occurrences of a schedule. */
  isRecurring(lane: number): boolean {
    return this.get(lane)?.recurring === 1
  }

  /** Those with ready jobs that are not paused, best first; of groups, the lane of all of them. */
  ready(): readonly Lane[] {
    const { lanes } = this.#ready.get() as { lanes: string }
    return (JSON.parse(lanes) as number[]).map((lane) => this.get(lane) as Lane)
  }

  runningOf(job: string): number {
    return (this.#running.get(job) as { running: number }).running
  }

  runningIn(queue: string): number {
    return (this.#runningIn.get(queue) as { running: number }).running
  }

  /** Without those of groups, which others sum up. */
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
    for (const [lane, changes] of this.#changes) if (changes.some((change) => change !== 0)) this.#write(lane, changes)
    this.#changes.clear()
    this.groups.writeFamilies((family, changes) => this.#writeLane(family, changes))
  }

  /** After a rollback: lanes that were made and counts that were changed never were. */
  forget(): void {
    this.#changes.clear()
    this.#numbers.clear()
    this.#byNumber.clear()
    this.groups.forget()
  }

  #write(number: number, changes: readonly number[]): void {
    const lane = this.get(number)
    if (lane === undefined || lane.family === 0) this.#writeLane(number, changes)
    else this.groups.write(lane, changes)
  }

  #writeLane(lane: number, changes: readonly number[]): void {
    const { isOpen, open } = this.#count.get(...changes, lane) as { isOpen: number; open: number }
    if (isOpen !== open) this.#open.run(isOpen, lane)
  }
}
