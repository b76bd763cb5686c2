import type { Migration } from '../../../queue/contract/migration.ts'
import { jobView } from '../../sql/rows/job-view.ts'

const view = jobView({
  time: (column) => `strftime('%Y-%m-%dT%H:%M:%fZ', ${column} / 1000.0, 'unixepoch')`,
  lastError: (column) => `CASE WHEN json_valid(${column}) THEN json_extract(${column}, '$[#-1].message') END`,
}).replaceAll(/\{(\w+)\}/g, 'treadle_$1')

/** Statistics about jobs, for charts, and a view of jobs for people who query them in SQL. */
export const statistics: Migration = {
  up: [
    'CREATE TABLE treadle_rollups (step INTEGER NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (step, at)) WITHOUT ROWID',
    `CREATE VIEW treadle_job_view AS ${view}`,
  ],
  down: ['DROP VIEW treadle_job_view', 'DROP TABLE treadle_rollups'],
  compatibleFrom: 9,
}
