import type { Migration } from '../../../queue/contract/migration.ts'
import { converted } from './converting.ts'
import { crowdedLanes } from './crowded-lanes.ts'
import { firstMigrations } from './first-schemas.ts'
import { listsByLane } from './lists-by-lane.ts'
import { statistics } from './statistics.ts'

/**
 * The tables of the queue, the same in all SQL engines: `sql/rows/tables.ts` says what they are for. Specific to SQLite:
 *
 * `jobs` are found by id, and claimed by row number. Long columns come last, so that frequently changed ones are at the beginning
 * of a row. `stamps` holds what the identities of jobs of one kind have in common: a row with a `stamp` stores only its id
 * itself. `counts` has one row for each lane and state, because only one transaction writes at a time.
 */
export const tables = `
  CREATE TABLE treadle_jobs (
    id TEXT NOT NULL PRIMARY KEY,
    lane INTEGER NOT NULL,
    grp TEXT NOT NULL DEFAULT '',
    state INTEGER NOT NULL,
    run_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    rescues INTEGER NOT NULL DEFAULT 0,
    cancel INTEGER NOT NULL DEFAULT 0,
    begun INTEGER NOT NULL DEFAULT 0,
    linked INTEGER NOT NULL DEFAULT 0,
    token TEXT,
    owner TEXT,
    lease_until INTEGER,
    started_at INTEGER,
    finished_at INTEGER,
    unique_key TEXT,
    unique_until INTEGER,
    held_key TEXT,
    schedule TEXT,
    number INTEGER,
    stamp INTEGER,
    identity TEXT NOT NULL,
    payload TEXT NOT NULL,
    signature TEXT,
    reason TEXT,
    errors TEXT,
    progress TEXT,
    result TEXT,
    seal TEXT
  );
  CREATE TABLE treadle_lanes (
    -- Other processes remember numbers: none is given twice.
    lane INTEGER PRIMARY KEY AUTOINCREMENT,
    queue TEXT NOT NULL,
    job TEXT NOT NULL,
    priority INTEGER NOT NULL,
    single INTEGER NOT NULL,
    recurring INTEGER NOT NULL,
    grouped INTEGER NOT NULL,
    turn INTEGER NOT NULL DEFAULT 0
  );
  CREATE TABLE treadle_counts (
    lane INTEGER NOT NULL,
    state INTEGER NOT NULL,
    jobs INTEGER NOT NULL,
    PRIMARY KEY (lane, state)
  ) WITHOUT ROWID;
  CREATE TABLE treadle_groups (
    lane INTEGER NOT NULL,
    grp TEXT NOT NULL,
    turn INTEGER NOT NULL,
    held_until INTEGER NOT NULL DEFAULT 0,
    version TEXT NOT NULL,
    PRIMARY KEY (lane, grp)
  ) WITHOUT ROWID;
  CREATE TABLE treadle_rates (scope TEXT PRIMARY KEY, log TEXT NOT NULL, expires_at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE treadle_unique_keys (held_key TEXT PRIMARY KEY, job_id TEXT NOT NULL, until INTEGER) WITHOUT ROWID;
  CREATE TABLE treadle_links (
    id TEXT PRIMARY KEY,
    root TEXT NOT NULL,
    parent TEXT,
    longest_wait_ms INTEGER NOT NULL,
    pending INTEGER NOT NULL DEFAULT 0,
    gives_up_at INTEGER,
    doom TEXT,
    ending TEXT,
    stands_in INTEGER NOT NULL DEFAULT 0
  ) WITHOUT ROWID;
  CREATE TABLE treadle_edges (
    edge INTEGER PRIMARY KEY,
    waiter TEXT NOT NULL,
    target TEXT NOT NULL,
    target_name TEXT,
    target_job TEXT,
    child_key TEXT,
    child_name TEXT,
    policy TEXT NOT NULL,
    waiting INTEGER NOT NULL DEFAULT 1,
    outcome INTEGER,
    result TEXT,
    error TEXT,
    seal TEXT
  );
  CREATE TABLE treadle_gone (root TEXT NOT NULL, state INTEGER NOT NULL, jobs INTEGER NOT NULL, PRIMARY KEY (root, state)) WITHOUT ROWID;
  CREATE TABLE treadle_paused (queue TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE TABLE treadle_once (
    once_key TEXT PRIMARY KEY,
    job_id TEXT NOT NULL,
    claimed_at INTEGER NOT NULL,
    done_until INTEGER,
    result TEXT,
    seal TEXT
  ) WITHOUT ROWID;
  CREATE TABLE treadle_locks (
    name TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    since INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE treadle_mutexes (name TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE TABLE treadle_workers (
    owner TEXT PRIMARY KEY,
    seen_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    said TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE treadle_worker_jobs (owner TEXT PRIMARY KEY, jobs TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE treadle_schedules (
    name TEXT PRIMARY KEY,
    expression TEXT NOT NULL,
    timezone TEXT NOT NULL,
    version TEXT NOT NULL,
    since INTEGER NOT NULL,
    paused_at INTEGER
  ) WITHOUT ROWID;
  CREATE TABLE treadle_schedule_revision (one INTEGER PRIMARY KEY, revision INTEGER NOT NULL);
  CREATE TABLE treadle_occurrences (
    schedule TEXT NOT NULL,
    at INTEGER NOT NULL,
    job_id TEXT NOT NULL,
    stored_at INTEGER NOT NULL,
    outcome INTEGER,
    started_at INTEGER,
    finished_at INTEGER,
    PRIMARY KEY (schedule, at)
  ) WITHOUT ROWID;
  CREATE TABLE treadle_numbers (one INTEGER PRIMARY KEY, next INTEGER NOT NULL);
`

/** Created after the rows were copied, which is faster. */
export const indexes = `
  CREATE UNIQUE INDEX treadle_lanes_key ON treadle_lanes (queue, job, priority, single, recurring, grouped);
  CREATE INDEX treadle_jobs_ready ON treadle_jobs (lane, grp, run_at, id) WHERE state = 0;
  CREATE INDEX treadle_jobs_scheduled ON treadle_jobs (run_at) WHERE state = 1;
  CREATE INDEX treadle_jobs_running ON treadle_jobs (lease_until) WHERE state = 3;
  CREATE INDEX treadle_jobs_ended ON treadle_jobs (state, finished_at) WHERE state >= 4;
  CREATE INDEX treadle_jobs_cancelling ON treadle_jobs (owner) WHERE cancel = 1;
  CREATE INDEX treadle_jobs_recurring ON treadle_jobs (schedule, run_at) WHERE schedule IS NOT NULL;
  CREATE UNIQUE INDEX treadle_jobs_unique ON treadle_jobs (held_key) WHERE held_key IS NOT NULL;
  CREATE UNIQUE INDEX treadle_jobs_number ON treadle_jobs (number) WHERE number IS NOT NULL;
  CREATE INDEX treadle_groups_turns ON treadle_groups (lane, held_until, turn);
  CREATE INDEX treadle_groups_held ON treadle_groups (held_until) WHERE held_until > 0;
  CREATE INDEX treadle_rates_expiry ON treadle_rates (expires_at);
  CREATE INDEX treadle_unique_keys_until ON treadle_unique_keys (until) WHERE until IS NOT NULL;
  CREATE INDEX treadle_links_root ON treadle_links (root);
  CREATE INDEX treadle_links_waiting ON treadle_links (gives_up_at) WHERE gives_up_at IS NOT NULL;
  CREATE INDEX treadle_edges_waiter ON treadle_edges (waiter, child_key);
  CREATE INDEX treadle_edges_target ON treadle_edges (target) WHERE outcome IS NULL;
  CREATE INDEX treadle_once_done ON treadle_once (done_until) WHERE done_until IS NOT NULL;
  CREATE INDEX treadle_once_held ON treadle_once (claimed_at) WHERE done_until IS NULL;
  CREATE INDEX treadle_locks_expiry ON treadle_locks (expires_at);
  CREATE INDEX treadle_workers_expiry ON treadle_workers (expires_at);
  CREATE INDEX treadle_occurrences_at ON treadle_occurrences (at);
  CREATE INDEX treadle_occurrences_job ON treadle_occurrences (job_id);
  CREATE INDEX treadle_occurrences_unended ON treadle_occurrences (schedule, at) WHERE outcome IS NULL;
`

const transfers = `CREATE TABLE treadle_transfers (
  name TEXT NOT NULL,
  part INTEGER NOT NULL,
  target TEXT,
  at INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (name, part)
)`

/** One table of the earlier versions stays unchanged: `treadle_stamps`. */
const removal = ['treadle_stamps', ...[...tables.matchAll(/CREATE TABLE (\w+)/g)].map(([, table]) => table)].map(
  (table) => `DROP TABLE ${table}`,
)

/** Schedules created at run time, and revisions that tell which schedules have changed. */
const storedSchedules: Migration = {
  up: [
    'ALTER TABLE treadle_schedules ADD COLUMN definition TEXT',
    'ALTER TABLE treadle_schedules ADD COLUMN signature TEXT',
    'ALTER TABLE treadle_schedules ADD COLUMN revision INTEGER NOT NULL DEFAULT 1',
    'CREATE TABLE treadle_removed_schedules (name TEXT PRIMARY KEY, revision INTEGER NOT NULL, removed_at INTEGER NOT NULL) WITHOUT ROWID',
    'CREATE INDEX treadle_schedules_revision ON treadle_schedules (revision)',
    'CREATE INDEX treadle_removed_schedules_revision ON treadle_removed_schedules (revision)',
  ],
  down: [
    'DROP TABLE treadle_removed_schedules',
    'DELETE FROM treadle_schedules WHERE definition IS NOT NULL',
    'DROP INDEX treadle_schedules_revision',
    'ALTER TABLE treadle_schedules DROP COLUMN revision',
    'ALTER TABLE treadle_schedules DROP COLUMN signature',
    'ALTER TABLE treadle_schedules DROP COLUMN definition',
  ],
  compatibleFrom: 5,
}

/** What jobs have logged, and the tags to find them by. */
const logsAndTags = `
  CREATE TABLE treadle_logs (
    job_id TEXT NOT NULL,
    first_line INTEGER NOT NULL,
    last_line INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (job_id, first_line)
  );
  CREATE TABLE treadle_tags (tag TEXT NOT NULL, job_id TEXT NOT NULL, PRIMARY KEY (tag, job_id)) WITHOUT ROWID;
  CREATE INDEX treadle_tags_job ON treadle_tags (job_id);
`

/** Recent events, for listeners. */
const events: Migration = {
  up: [
    'CREATE TABLE treadle_event_listeners (id TEXT PRIMARY KEY, expires_at INTEGER NOT NULL, wants TEXT NOT NULL) WITHOUT ROWID',
    'CREATE TABLE treadle_event_position (one INTEGER PRIMARY KEY, epoch INTEGER NOT NULL, last_number INTEGER NOT NULL)',
    'CREATE TABLE treadle_events (last_number INTEGER PRIMARY KEY, first_number INTEGER NOT NULL, body TEXT NOT NULL)',
  ],
  down: ['DROP TABLE treadle_event_listeners', 'DROP TABLE treadle_event_position', 'DROP TABLE treadle_events'],
  compatibleFrom: 5,
}

/**
 * All versions of the schema, oldest first. Released migrations are never changed. The tables that all engines share cannot be
 * migrated back to SQLite's own: of keys that outlive their jobs, only digests remain.
 */
export const sqliteMigrations: readonly Migration[] = [
  ...firstMigrations,
  { up: converted(tables, indexes), down: null, removal, compatibleFrom: 5 },
  storedSchedules,
  { up: [logsAndTags], down: ['DROP TABLE treadle_logs', 'DROP TABLE treadle_tags'], compatibleFrom: 5 },
  { up: [transfers], down: ['DROP TABLE treadle_transfers'], compatibleFrom: 5 },
  crowdedLanes,
  statistics,
  events,
  listsByLane,
]
