import { type JobState, jobStates, zeroCounts } from '../job-state.ts'
import type { JobLink, TreeCounts } from '../store.ts'
import type { Addresses } from './addresses.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'
import { type Edges, linkOf } from './edges.ts'

/** All jobs of a workflow together. */
export class Trees {
  readonly #edges: Edges
  readonly #addresses: Addresses
  readonly #counts: SqliteStatement
  readonly #gone: SqliteStatement
  readonly #members: SqliteStatement
  readonly #family: SqliteStatement
  readonly #root: SqliteStatement
  readonly #remember: SqliteStatement
  readonly #remove: SqliteStatement
  readonly #forgetRoot: SqliteStatement

  constructor(connection: Connection, edges: Edges, addresses: Addresses) {
    this.#edges = edges
    this.#addresses = addresses
    this.#counts = connection.prepare(
      'SELECT state, count(*) AS jobs FROM treadle_links JOIN treadle_jobs USING (seq) WHERE root = ? GROUP BY state',
    )
    this.#gone = connection.prepare('SELECT state, jobs FROM treadle_gone WHERE root = ?')
    this.#members = connection.prepare('SELECT seq FROM treadle_links WHERE root = ?')
    this.#family = connection.prepare(
      `WITH RECURSIVE family (seq) AS (
         VALUES (?)
         UNION SELECT target FROM treadle_edges JOIN family ON waiter = family.seq WHERE key IS NOT NULL
         UNION SELECT waiter FROM treadle_edges JOIN family ON target = family.seq WHERE key IS NULL AND outcome IS NULL)
       SELECT seq FROM family`,
    )
    this.#root = connection.prepare('SELECT root FROM treadle_links WHERE seq = ?')
    this.#remember = connection.prepare(
      'INSERT INTO treadle_gone (root, state, jobs) VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET jobs = jobs + 1',
    )
    this.#remove = connection.prepare('DELETE FROM treadle_links WHERE seq = ?')
    this.#forgetRoot = connection.prepare(
      'DELETE FROM treadle_gone WHERE root = ?1 AND NOT EXISTS (SELECT 1 FROM treadle_links WHERE root = ?1)',
    )
  }

  links(id: string): readonly JobLink[] {
    const seq = this.#addresses.find(id)
    if (seq === undefined) return []
    const links = this.#edges.of(seq).map(linkOf)
    return [...links.filter(({ kind }) => kind === 'dependency'), ...links.filter(({ kind }) => kind === 'child')]
  }

  counts(root: string): TreeCounts {
    const counts = zeroCounts()
    const rows = [...this.#counts.all(root), ...this.#gone.all(root)] as { state: number; jobs: number }[]
    for (const { state, jobs } of rows) counts[jobStates[state] as JobState] += jobs
    return { total: Object.values(counts).reduce((sum, count) => sum + count, 0), counts }
  }

  /** A job with everything that it made and everything that waits for it, or all jobs of the workflow that has this id. */
  family(id: string): readonly number[] {
    const seq = this.#addresses.find(id)
    const rows = seq === undefined ? this.#members.all(id) : this.#family.all(seq)
    return (rows as { seq: number }[]).map((row) => row.seq)
  }

  /** What is known of a job that is to be deleted; how it ended, if it did, is remembered with its workflow. */
  forget(seq: number, state: number | null): void {
    const found = this.#root.get(seq) as { root: string } | undefined
    if (found === undefined) return
    if (state !== null) this.#remember.run(found.root, state)
    this.#remove.run(seq)
    this.#edges.removeOf(seq)
    this.#forgetRoot.run(found.root)
  }
}
