import { digest } from '../../../core/text/digest.ts'
import { doomOf } from '../../../queue/rules/workflows/links.ts'
import { type Edge, edgeColumns, storedEdge, targetOf } from '../../sql/workflows/edges.ts'
import type { Connection } from '../file/connection.ts'

const renamed = ['jobs', 'lanes', 'links', 'edges', 'once', 'schedule_revision', 'numbers'] as const
/** Copied unchanged. */
const kept = ['rates', 'gone', 'paused', 'locks', 'workers', 'worker_jobs', 'schedules', 'occurrences'] as const
/** Old tables without a new counterpart of the same name. */
const left = ['unique'] as const

const sameInJobs =
  'state, run_at, created_at, attempts, rescues, cancel, begun, linked, token, owner, lease_until, started_at, finished_at, unique_key, unique_until, schedule, number, stamp, identity, payload, signature, reason, errors, progress, result, seal'

const isHeld = 'unique_key IS NOT NULL AND state < 4 AND (unique_until = 0 OR (unique_until = 1 AND started_at IS NULL))'

/**
 * Converts the tables that only SQLite had to those that all engines share. What SQL cannot convert is copied unchanged, marked
 * with a leading space: see `finish`.
 */
const copied = [
  `INSERT INTO treadle_jobs (id, lane, grp, held_key, ${sameInJobs})
    SELECT jobs.id, CASE WHEN lanes.family > 0 THEN lanes.family ELSE jobs.lane END, coalesce(lanes.grp, ''),
      CASE WHEN ${isHeld} THEN ' ' || unique_key END, ${sameInJobs.replace(/\b(\w+)\b/g, 'jobs.$1')}
    FROM treadle_old_jobs AS jobs LEFT JOIN treadle_old_lanes AS lanes ON lanes.lane = jobs.lane ORDER BY jobs.id`,
  `INSERT INTO treadle_lanes (lane, queue, job, priority, single, recurring, grouped, turn)
    SELECT lane, queue, job, priority, single, recurring, grouped, 2 * turn FROM treadle_old_lanes WHERE family = 0`,
  'INSERT INTO treadle_counts (lane, state, jobs) SELECT lane, state, count(*) FROM treadle_jobs GROUP BY lane, state',
  `INSERT INTO treadle_groups (lane, grp, turn, held_until, version)
    SELECT family, grp, 2 * turn, coalesce(held_until, 0), lower(hex(randomblob(8)))
    FROM treadle_old_lanes WHERE family > 0 AND ready > 0`,
  `INSERT INTO treadle_links (id, root, parent, longest_wait_ms, pending, gives_up_at, doom, ending, stands_in)
    SELECT jobs.id, root, parent, longest_wait_ms, pending, gives_up_at, ' ' || doom, ending,
      EXISTS (SELECT 1 FROM treadle_old_edges AS edges WHERE edges.waiter = jobs.seq AND edges.policy = 'rescue')
    FROM treadle_old_links AS links JOIN treadle_old_jobs AS jobs ON jobs.seq = links.seq`,
  `INSERT INTO treadle_edges (edge, waiter, target, target_job, child_key, child_name, policy, waiting, outcome, result, error, seal)
    SELECT edge, jobs.id, target_id, target_job, ' ' || key, key, policy, waiting, outcome, edges.result, error, edges.seal
    FROM treadle_old_edges AS edges JOIN treadle_old_jobs AS jobs ON jobs.seq = edges.waiter`,
  "INSERT INTO treadle_unique_keys (held_key, job_id, until) SELECT ' ' || key, job_id, until FROM treadle_unique",
  `INSERT INTO treadle_once (once_key, job_id, claimed_at, done_until, result, seal)
    SELECT ' ' || key, job_id, claimed_at, done_until, result, seal FROM treadle_old_once`,
  'INSERT INTO treadle_schedule_revision (one, revision) SELECT 1, max(revision) FROM treadle_old_schedule_revision',
  'INSERT INTO treadle_numbers (one, next) SELECT 1, max(next) FROM treadle_old_numbers',
  ...kept.map((table) => `INSERT INTO treadle_${table} SELECT * FROM treadle_old_${table}`),
  "INSERT INTO treadle_mutexes (name) VALUES ('claims'), ('links'), ('unfinished')",
]

/** The statements that convert a file to these tables. */
export function converted(tables: readonly string[], indexes: readonly string[]): readonly string[] {
  return [
    ...[...renamed, ...kept].map((table) => `ALTER TABLE treadle_${table} RENAME TO treadle_old_${table}`),
    ...tables,
    ...copied,
    ...[...renamed, ...kept].map((table) => `DROP TABLE treadle_old_${table}`),
    ...left.map((table) => `DROP TABLE treadle_${table}`),
    ...indexes,
  ]
}

/** Whether the file was converted by the SQL statements alone and still needs `finish`. */
export function isUnfinished(connection: Connection): boolean {
  const mark = connection.prepare("SELECT 1 FROM treadle_mutexes WHERE name = 'unfinished'")
  return connection.read(() => mark.get()) !== undefined
}

/** Digests the keys and replaces references by number with what they refer to. Call inside a transaction. */
export function finish(connection: Connection): void {
  if (!isUnfinished(connection)) return
  digestAll(connection, 'jobs', 'held_key')
  digestAll(connection, 'unique_keys', 'held_key')
  digestAll(connection, 'once', 'once_key')
  finishEdges(connection)
  finishDooms(connection)
  connection.exec("DELETE FROM treadle_mutexes WHERE name = 'unfinished'")
}

const rowsAtOnce = 1_000
const isMarked = (column: string) => `${column} >= ' ' AND ${column} < '!'`

/** Digested keys no longer match the query. */
function digestAll(connection: Connection, table: string, column: string): void {
  const next = connection.prepare(
    `SELECT ${column} AS key FROM treadle_${table} WHERE ${isMarked(column)} ORDER BY ${column} LIMIT ${rowsAtOnce}`,
  )
  const change = connection.prepare(`UPDATE treadle_${table} SET ${column} = ? WHERE ${column} = ?`)
  for (;;) {
    const rows = next.all() as { readonly key: string }[]
    for (const { key } of rows) change.run(digest(key.slice(1)), key)
    if (rows.length < rowsAtOnce) return
  }
}

function finishEdges(connection: Connection): void {
  const next = connection.prepare(
    `SELECT edge, target, child_name FROM treadle_edges WHERE edge > ? ORDER BY edge LIMIT ${rowsAtOnce}`,
  )
  const change = connection.prepare('UPDATE treadle_edges SET target = ?, target_name = ?, child_key = ? WHERE edge = ?')
  for (let last = 0; ; ) {
    const rows = next.all(last) as Pick<Edge, 'edge' | 'target' | 'child_name'>[]
    for (const { edge, target: found, child_name } of rows) {
      const { target, target_name } = targetOf(found)
      if (child_name !== null || target_name !== null)
        change.run(target, target_name, child_name === null ? null : digest(child_name), edge)
      last = edge
    }
    if (rows.length < rowsAtOnce) return
  }
}

function finishDooms(connection: Connection): void {
  const columns = edgeColumns.map((column) => `edges.${column}`).join(', ')
  const doomed = connection.prepare(
    `SELECT links.id, ${columns} FROM treadle_links AS links LEFT JOIN treadle_edges AS edges ON edges.edge = CAST(trim(links.doom) AS INTEGER)
     WHERE ${isMarked('links.doom')}`,
  )
  const change = connection.prepare('UPDATE treadle_links SET doom = ? WHERE id = ?')
  for (const { id, ...edge } of doomed.all() as (Edge & { readonly id: string })[])
    change.run(edge.edge === null ? null : JSON.stringify(doomOf(storedEdge(edge))), id)
}
