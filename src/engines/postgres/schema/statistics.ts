import type { Migration } from '../../../queue/contract/migration.ts'
import { jobView } from '../../sql/rows/job-view.ts'
import { tables } from '../../sql/rows/tables.ts'
import { createTable } from './schema.ts'

const view = jobView({
  time: (column) => `to_timestamp(${column} / 1000.0)`,
  lastError: (column) => `(${column}::jsonb -> -1) ->> 'message'`,
})

/** Rollups of what happened to jobs, for charts, and a view for people who query jobs in SQL. */
export const statistics: Migration = {
  up: [
    createTable('rollups', tables.rollups),
    "INSERT INTO {mutexes} (name) VALUES ('rollups')",
    `CREATE VIEW {job_view} AS ${view}`,
  ],
  down: ['DROP VIEW {job_view}', 'DROP TABLE {rollups}', "DELETE FROM {mutexes} WHERE name = 'rollups'"],
  compatibleFrom: 7,
}
