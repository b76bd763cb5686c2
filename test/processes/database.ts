import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { identityIn } from '../../src/backends/sqlite/stamps.ts'

/** The part of the driver that tests look into a file with, past Treadle. */
interface Database {
  exec(sql: string): void
  prepare(sql: string): { all(...values: readonly (string | number)[]): unknown[] }
  close(): void
}

type Driver = new (path: string) => Database

const Driver = await loadDriver()

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
  const columns = states.map((state, number) => `sum(jobs.state = ${number}) AS ${state}`).join(', ')
  // A lane of all groups has no jobs itself, and sums up those of its groups.
  const counted = query<Record<string, number>>(
    path,
    `SELECT lane, ${columns} FROM treadle_jobs AS jobs GROUP BY lane
     UNION ALL SELECT family AS lane, ${columns} FROM treadle_jobs AS jobs JOIN treadle_lanes USING (lane) WHERE family > 0 GROUP BY family`,
  )
  const kept = query<Record<string, number>>(path, 'SELECT * FROM treadle_lanes')
  const faults = counted.filter(({ lane }) => !kept.some((row) => row.lane === lane)).map(({ lane }) => `no lane ${lane}`)
  for (const lane of kept) {
    const rows = counted.find((row) => row.lane === lane.lane)
    for (const state of states) {
      const real = rows?.[state] ?? 0
      if (lane[state] !== real) faults.push(`lane ${lane.lane} keeps ${lane[state]} ${state}, there are ${real}`)
    }
    const isOpen = lane.family === 0 && (lane.ready as number) > 0 ? 1 : 0
    if (lane.open !== isOpen) faults.push(`lane ${lane.lane} is ${isOpen ? '' : 'not '}open, and says otherwise`)
  }
  return faults
}

function groupFaults(path: string): string[] {
  const lanes = query<{ lane: number; grp: string; busy: number; running: number; jobs: number }>(
    path,
    `SELECT lane, grp, busy, ${states.join(' + ')} AS jobs,
       (SELECT total(running) FROM treadle_lanes AS all_of_group
        WHERE all_of_group.job = lanes.job AND all_of_group.grp = lanes.grp AND family > 0) AS running
     FROM treadle_lanes AS lanes WHERE family > 0`,
  )
  return lanes.flatMap(({ lane, grp, busy, running, jobs }) => [
    ...(busy === running ? [] : [`lane ${lane} says that ${busy} jobs of group ${grp} run, there are ${running}`]),
    ...(jobs === 0 ? [`lane ${lane} of group ${grp} was left without jobs`] : []),
  ])
}

function linkFaults(path: string): string[] {
  const orphans = query<{ orphan: string }>(
    path,
    `SELECT 'the place of a job that is gone, in ' || root AS orphan FROM treadle_links WHERE seq NOT IN (SELECT seq FROM treadle_jobs)
     UNION ALL SELECT 'what a job that is gone waited for: ' || target_id FROM treadle_edges WHERE waiter NOT IN (SELECT seq FROM treadle_jobs)
     UNION ALL SELECT 'a workflow without jobs: ' || root FROM treadle_gone WHERE root NOT IN (SELECT root FROM treadle_links)`,
  )
  return orphans.map(({ orphan }) => `the file keeps ${orphan}`)
}

function rowFaults(path: string): string[] {
  const half = query<{ id: string }>(
    path,
    `SELECT id FROM (SELECT *, ${identityIn('treadle_jobs')} AS whole FROM treadle_jobs)
     WHERE NOT json_valid(whole) OR json_extract(whole, '$[1]') IS NOT id OR NOT json_valid(payload)
       OR signature IS NULL OR (state = 3) <> (token IS NOT NULL) OR (state = 3) <> (lease_until IS NOT NULL)
       OR (state >= 4) <> (finished_at IS NOT NULL)`,
  )
  return half.map(({ id }) => `job ${id} is not complete`)
}

async function loadDriver(): Promise<Driver> {
  for (const name of ['node:sqlite', '@photostructure/sqlite']) {
    try {
      return ((await import(/* @vite-ignore */ name)) as { DatabaseSync: Driver }).DatabaseSync
    } catch {
      // The next one.
    }
  }
  throw new Error('No SQLite driver to test with')
}
