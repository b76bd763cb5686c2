import type { Migration } from '../../../queue/upkeep/migration.ts'
import { identityIn } from '../statements.ts'

/** Numbers by which other programs refer to jobs. Most jobs have no number and cost nothing here. */
const numbered = `
  ALTER TABLE treadle_jobs ADD COLUMN number INTEGER;
  CREATE UNIQUE INDEX treadle_jobs_number ON treadle_jobs (number) WHERE number IS NOT NULL;
  CREATE TABLE treadle_numbers (next INTEGER NOT NULL);
  INSERT INTO treadle_numbers VALUES (1);
`

const unnumbered = ['DROP TABLE treadle_numbers', 'DROP INDEX treadle_jobs_number', 'ALTER TABLE treadle_jobs DROP COLUMN number']

export const stamps = 'CREATE TABLE treadle_stamps (stamp INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE)'

/**
 * A row holds what is specific to its job, and the number of the text that its identity ends with. A lane has a column that says
 * whether it has ready jobs, which changes rarely: an index over their count would be written on every change.
 */
const stamped = `
  ${stamps};
  ALTER TABLE treadle_jobs ADD COLUMN stamp INTEGER;
  ALTER TABLE treadle_lanes ADD COLUMN open INTEGER NOT NULL DEFAULT 0;
  UPDATE treadle_lanes SET open = ready > 0;
  DROP INDEX treadle_lanes_ready;
  CREATE INDEX treadle_lanes_open ON treadle_lanes (priority DESC) WHERE family = 0 AND open = 1;
`

const unstamped = [
  `UPDATE treadle_jobs SET identity = ${identityIn('treadle_jobs')} WHERE stamp IS NOT NULL`,
  'ALTER TABLE treadle_jobs DROP COLUMN stamp',
  'DROP TABLE treadle_stamps',
  'DROP INDEX treadle_lanes_open',
  'ALTER TABLE treadle_lanes DROP COLUMN open',
  'CREATE INDEX treadle_lanes_ready ON treadle_lanes (priority DESC) WHERE family = 0 AND ready > 0',
]

/** What workers sign of a result, everywhere results are kept. */
const sealed = `
  ALTER TABLE treadle_jobs ADD COLUMN seal TEXT;
  ALTER TABLE treadle_edges ADD COLUMN seal TEXT;
  ALTER TABLE treadle_once ADD COLUMN seal TEXT;
`

const unsealed = ['treadle_jobs', 'treadle_edges', 'treadle_once'].map((table) => `ALTER TABLE ${table} DROP COLUMN seal`)

/** The tables of the first version. New files begin with the tables that all engines share. */
const first = [
  'lanes',
  'rates',
  'jobs',
  'unique',
  'links',
  'edges',
  'gone',
  'paused',
  'once',
  'locks',
  'workers',
  'worker_jobs',
  'schedules',
  'schedule_revision',
  'occurrences',
]

/**
 * The versions from when SQLite had its own rules and tables. Jobs in groups had one lane per group, below a lane for all groups
 * (their `family`), and places in workflows were found by row number. Released migrations are never changed.
 */
export const firstMigrations: readonly Migration[] = [
  { up: [], down: first.map((name) => `DROP TABLE treadle_${name}`), compatibleFrom: 1 },
  { up: [numbered], down: unnumbered, compatibleFrom: 1 },
  { up: [stamped], down: unstamped, compatibleFrom: 3 },
  { up: [sealed], down: unsealed, compatibleFrom: 3 },
]
