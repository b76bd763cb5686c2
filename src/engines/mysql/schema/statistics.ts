import type { Migration } from '../../../queue/contract/migration.ts'
import { jobView } from '../../sql/rows/job-view.ts'
import { tables } from '../../sql/rows/tables.ts'
import { createTable } from './schema.ts'

const view = jobView({
  // Not FROM_UNIXTIME, which depends on the connection's time zone.
  time: (column) => `TIMESTAMPADD(MICROSECOND, ${column} * 1000, TIMESTAMP '1970-01-01 00:00:00')`,
  lastError: (column) =>
    `CASE WHEN JSON_VALID(${column}) THEN JSON_UNQUOTE(JSON_EXTRACT(${column}, CONCAT('$[', JSON_LENGTH(${column}) - 1, '].message'))) END`,
})

/** Rollups of what happened to jobs, for charts, and a view for people who query jobs in SQL. */
export function statistics(exactCollation: string): Migration {
  return {
    up: [
      createTable('rollups', tables.rollups, exactCollation),
      "INSERT IGNORE INTO {mutexes} (name) VALUES ('rollups')",
      `CREATE OR REPLACE SQL SECURITY INVOKER VIEW {job_view} AS ${view}`,
    ],
    down: ['DROP VIEW IF EXISTS {job_view}', 'DROP TABLE IF EXISTS {rollups}', "DELETE FROM {mutexes} WHERE name = 'rollups'"],
    compatibleFrom: 7,
  }
}
