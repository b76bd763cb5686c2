import type { FailurePolicy } from '../../envelope/envelope.ts'
import { type JobState, jobStates } from '../job-state.ts'
import type { JobLink } from '../store.ts'
import type { End } from '../waiting.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'

/** As `stateNumber`, and a number for a job that is not there. */
const outcomes: readonly (JobState | 'missing')[] = [...jobStates, 'missing']

/** One job waits for another, its target. */
export interface Edge {
  readonly edge: number
  readonly waiter: number
  readonly target: number | null
  readonly target_id: string
  readonly target_job: string | null
  readonly key: string | null
  readonly policy: FailurePolicy
  readonly waiting: number
}

export type NewEdge = Omit<Edge, 'edge' | 'waiting'>

/** With what the one that waits knows of its end, and the state of the job itself, if it is there. */
export interface KnownEdge extends Edge {
  readonly outcome: number | null
  readonly result: string | null
  readonly seal: string | null
  readonly error: string | null
  readonly state: number | null
}

/** Who waits for whom: one row for each pair. */
export class Edges {
  readonly #add: SqliteStatement
  readonly #child: SqliteStatement
  readonly #on: SqliteStatement
  readonly #end: SqliteStatement
  readonly #endOn: SqliteStatement
  readonly #reopen: SqliteStatement
  readonly #drop: SqliteStatement
  readonly #detach: SqliteStatement
  readonly #of: SqliteStatement
  readonly #one: SqliteStatement
  readonly #rescued: SqliteStatement
  readonly #removeOf: SqliteStatement
  readonly #leads: SqliteStatement

  constructor(connection: Connection) {
    this.#add = connection.prepare(
      'INSERT INTO treadle_edges (waiter, target, target_id, target_job, key, policy) VALUES (?, ?, ?, ?, ?, ?) RETURNING edge',
    )
    this.#child = connection.prepare('SELECT target_id FROM treadle_edges WHERE waiter = ? AND key = ?')
    this.#on = connection.prepare('SELECT * FROM treadle_edges WHERE target = ? AND outcome IS NULL')
    const end = 'UPDATE treadle_edges SET outcome = ?, result = ?, seal = ?, error = ?, waiting = 0'
    this.#end = connection.prepare(`${end} WHERE edge = ?`)
    this.#endOn = connection.prepare(`${end} WHERE target = ? AND outcome IS NULL`)
    this.#reopen = connection.prepare(
      'UPDATE treadle_edges SET outcome = NULL, result = NULL, seal = NULL, error = NULL, waiting = 1 WHERE edge = ?',
    )
    this.#drop = connection.prepare('DELETE FROM treadle_edges WHERE edge = ?')
    this.#detach = connection.prepare('UPDATE treadle_edges SET waiting = 0 WHERE waiter = ? AND waiting = 1')
    const select = `SELECT edges.*, jobs.state FROM treadle_edges AS edges
      LEFT JOIN treadle_jobs AS jobs ON jobs.seq = edges.target AND jobs.id = edges.target_id`
    this.#of = connection.prepare(`${select} WHERE waiter = ? ORDER BY edge`)
    this.#one = connection.prepare(`${select} WHERE edge = ?`)
    this.#rescued = connection.prepare(
      `SELECT count(*) AS rescues, total(NOT (outcome = 4 OR (outcome = 7 AND result IS NOT NULL))) AS failed
       FROM treadle_edges WHERE waiter = ? AND policy = 'rescue'`,
    )
    this.#removeOf = connection.prepare('DELETE FROM treadle_edges WHERE waiter = ?')
    this.#leads = connection.prepare(
      `WITH RECURSIVE reached (seq) AS (
         SELECT ? UNION SELECT target FROM treadle_edges JOIN reached ON waiter = reached.seq WHERE waiting = 1
       ) SELECT 1 FROM reached WHERE seq = ?`,
    )
  }

  add({ waiter, target, target_id, target_job, key, policy }: NewEdge): Edge {
    const { edge } = this.#add.get(waiter, target, target_id, target_job, key, policy) as { edge: number }
    return { edge, waiter, target, target_id, target_job, key, policy, waiting: 1 }
  }

  /** The id of the child that a parent has under this key. */
  child(parent: number, key: string): string | undefined {
    return (this.#child.get(parent, key) as { target_id: string } | undefined)?.target_id
  }

  /** Whether a job can not end before another one has. A job is waited for by itself. */
  waitsFor(from: number, to: number): boolean {
    return this.#leads.get(from, to) !== undefined
  }

  /** Those that have not been told of this job's end. */
  on(target: number): readonly Edge[] {
    return this.#on.all(target) as Edge[]
  }

  end(edge: number, { state, result, seal, error }: End): void {
    this.#end.run(outcomes.indexOf(state), result, seal, error, edge)
  }

  endOn(target: number, { state, result, seal, error }: End): void {
    this.#endOn.run(outcomes.indexOf(state), result, seal, error, target)
  }

  reopen(edge: number): void {
    this.#reopen.run(edge)
  }

  drop(edge: number): void {
    this.#drop.run(edge)
  }

  /** What is left of them is not waited for any more. */
  detach(waiter: number): void {
    this.#detach.run(waiter)
  }

  /** In the order of their making. */
  of(waiter: number): readonly KnownEdge[] {
    return this.#of.all(waiter) as KnownEdge[]
  }

  get(edge: number): KnownEdge {
    return this.#one.get(edge) as KnownEdge
  }

  /** There are jobs that it stands in for, and all of them succeeded. */
  hasNothingToRescue(waiter: number): boolean {
    const { rescues, failed } = this.#rescued.get(waiter) as { rescues: number; failed: number }
    return rescues > 0 && failed === 0
  }

  removeOf(waiter: number): void {
    this.#removeOf.run(waiter)
  }
}

export function linkOf(edge: KnownEdge): JobLink {
  return {
    kind: edge.key === null ? 'dependency' : 'child',
    id: edge.target_id,
    job: edge.target_job,
    key: edge.key,
    onFailure: edge.policy,
    state: outcomes[edge.outcome ?? edge.state ?? outcomes.length - 1] as JobLink['state'],
    waiting: edge.waiting === 1,
    result: edge.result,
    seal: edge.seal,
    error: edge.error,
  }
}
