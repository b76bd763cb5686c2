import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SqliteDriverName } from '../../src/engines/sqlite/driver-names.ts'
import { identityIn } from '../../src/engines/sqlite/statements.ts'

/** The part of the driver that tests look into a file with, past Treadle. */
interface Database {
  exec(sql: string): void
  prepare(sql: string): { all(...values: readonly (string | number)[]): unknown[] }
  close(): void
}

type Driver = new (path: string) => Database

export const usual = await loadDriver()

let { Driver } = usual

/** For tests of a program with another copy of SQLite: two copies in one process destroy the file that both have open. */
export function lookWith(other: Driver): void {
  Driver = other
}

export function scratchFolder(): { readonly path: string; file(name: string): string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'treadle-'))
  return { path, file: (name) => join(path, name), remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** The rows that a statement gives, read by a connection of its own. */
export function query<Row>(path: string, sql: string, ...values: readonly (string | number)[]): Row[] {
  const database = new Driver(path)
  try {
    database.exec('PRAGMA busy_timeout = 30000')
    return database.prepare(sql).all(...values) as Row[]
  } finally {
    database.close()
  }
}

export function execute(path: string, sql: string): void {
  const database = new Driver(path)
  try {
    database.exec('PRAGMA busy_timeout = 30000')
    database.exec(sql)
  } finally {
    database.close()
  }
}

/** A connection that stays open, for a lock that is to be held. */
export function connect(path: string): Database {
  return new Driver(path)
}

const states = ['ready', 'scheduled', 'blocked', 'running', 'succeeded', 'dead', 'cancelled', 'skipped'] as const

/** What is wrong with the file: damage, counts that are not those of the rows, rows without all that a job needs, rows of jobs that are gone. */
export function faultsOf(path: string): readonly string[] {
  const damage = query<{ integrity_check: string }>(path, 'PRAGMA integrity_check').map((row) => row.integrity_check)
  return [
    ...damage.filter((message) => message !== 'ok'),
    ...countFaults(path),
    ...groupFaults(path),
    ...linkFaults(path),
    ...rowFaults(path),
  ]
}

export function rowsIn(path: string): number {
  return query<{ rows: number }>(path, 'SELECT count(*) AS rows FROM treadle_jobs')[0]!.rows
}

function countFaults(path: string): string[] {
  const counted = query<{ lane: number; state: number; kept: number; jobs: number }>(
    path,
    `SELECT lane, state, sum(kept) AS kept, sum(jobs) AS jobs FROM (
       SELECT lane, state, jobs AS kept, 0 AS jobs FROM treadle_counts
       UNION ALL SELECT lane, state, 0, 1 FROM treadle_jobs
       UNION ALL SELECT 0, state, 0, 1 FROM treadle_jobs) GROUP BY lane, state`,
  )
  // All lanes together are counted as one.
  const lanes = new Set([0, ...query<{ lane: number }>(path, 'SELECT lane FROM treadle_lanes').map(({ lane }) => lane)])
  return counted.flatMap(({ lane, state, kept, jobs }) => [
    ...(lanes.has(lane) ? [] : [`no lane ${lane}`]),
    ...(kept === jobs ? [] : [`lane ${lane} keeps ${kept} ${states[state]}, there are ${jobs}`]),
  ])
}

/** A group may be left behind by its last ready job until the next claim, but a ready job without its group is never found. */
function groupFaults(path: string): string[] {
  const lost = query<{ lane: number; grp: string }>(
    path,
    `SELECT DISTINCT jobs.lane, jobs.grp FROM treadle_jobs AS jobs JOIN treadle_lanes AS lanes USING (lane)
     WHERE jobs.state = 0 AND lanes.grouped = 1
       AND NOT EXISTS (SELECT 1 FROM treadle_groups AS groups WHERE groups.lane = jobs.lane AND groups.grp = jobs.grp)`,
  )
  return lost.map(({ lane, grp }) => `group ${grp} of lane ${lane} has ready jobs, and is in no line`)
}

function linkFaults(path: string): string[] {
  const orphans = query<{ orphan: string }>(
    path,
    `SELECT 'the place of a job that is gone, in ' || root AS orphan FROM treadle_links WHERE id NOT IN (SELECT id FROM treadle_jobs)
     UNION ALL SELECT 'what a job that is gone waited for: ' || target FROM treadle_edges WHERE waiter NOT IN (SELECT id FROM treadle_jobs)
     UNION ALL SELECT 'a workflow without jobs: ' || root FROM treadle_gone WHERE root NOT IN (SELECT root FROM treadle_links)`,
  )
  return orphans.map(({ orphan }) => `the file keeps ${orphan}`)
}

function rowFaults(path: string): string[] {
  const half = query<{ id: string }>(
    path,
    `SELECT id FROM (SELECT *, ${identityIn('treadle_jobs')} AS whole FROM treadle_jobs)
     WHERE NOT json_valid(whole) OR json_extract(whole, '$[1]') IS NOT id OR NOT json_valid(payload)
       OR signature IS NULL OR (state = 3 AND token IS NULL) OR (state = 3) <> (lease_until IS NOT NULL)
       OR (state >= 4) <> (finished_at IS NOT NULL)`,
  )
  return half.map(({ id }) => `job ${id} is not complete`)
}

async function loadDriver(): Promise<{ readonly name: SqliteDriverName; readonly Driver: Driver }> {
  for (const name of ['node:sqlite', '@photostructure/sqlite'] as const) {
    try {
      return { name, Driver: ((await import(/* @vite-ignore */ name)) as { DatabaseSync: Driver }).DatabaseSync }
    } catch {
      // The next one.
    }
  }
  throw new Error('No SQLite driver to test with')
}
