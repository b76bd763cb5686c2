import type { Migration } from '../../../queue/contract/migration.ts'
import { crowdedFrom, mostSingleLanes } from '../../sql/lanes/lane-numbers.ts'
import { tables } from '../../sql/rows/tables.ts'
import { crowdColumn, crowdColumns, crowdIndex } from './places.ts'
import { createTable } from './schema.ts'

export const laneIndex = 'jobs_lane'
/** The lane of jobs that were listed by it alone, until `listsByLane`. */
export const laneColumn = 'lane_place INT AS (CASE WHEN state * (state - 3) * (state - 4 + linked) <> 0 THEN lane END) STORED'

/**
 * Supports many lanes: later lanes are crowded, their jobs store their own order, and counts are kept as totals. Settling a
 * running job names its lane, so lanes with running jobs are left unchanged.
 */
export function crowdedLanes(exactCollation: string): Migration {
  return {
    up: [
      'ALTER TABLE {jobs} ADD COLUMN crowd INT',
      `ALTER TABLE {jobs} ADD COLUMN ${crowdColumn}`,
      `ALTER TABLE {jobs} ADD COLUMN ${laneColumn}`,
      'ALTER TABLE {lanes} ADD COLUMN empty_since BIGINT',
      createTable('totals', tables.totals, exactCollation),
      "INSERT IGNORE INTO {mutexes} (name) VALUES ('counts')",
      `UPDATE {lanes} SET lane = lane + ${crowdedFrom} WHERE lane > ${mostSingleLanes} AND lane < ${crowdedFrom}
         AND lane NOT IN (SELECT lane FROM {jobs} WHERE state = 3)`,
      `UPDATE {jobs} AS jobs JOIN {lanes} AS lanes ON lanes.lane = jobs.lane + ${crowdedFrom} AND lanes.lane > ${crowdedFrom}
         SET jobs.lane = lanes.lane, jobs.crowd = -lanes.priority`,
      ...['counts', 'groups'].map(
        (table) => `UPDATE {${table}} AS placed
         JOIN {lanes} AS lanes ON lanes.lane = placed.lane + ${crowdedFrom} AND lanes.lane > ${crowdedFrom}
         SET placed.lane = lanes.lane`,
      ),
      `ALTER TABLE {jobs} ADD INDEX ${crowdIndex} (${crowdColumns.join(', ')})`,
      `ALTER TABLE {jobs} ADD INDEX ${laneIndex} (lane_place)`,
      'ALTER TABLE {lanes} ADD INDEX lanes_job (job, queue)',
    ],
    down: [
      'ALTER TABLE {lanes} DROP INDEX lanes_job',
      `ALTER TABLE {jobs} DROP INDEX ${crowdIndex}`,
      `ALTER TABLE {jobs} DROP INDEX ${laneIndex}`,
      'INSERT INTO {counts} (lane, state, jobs) SELECT lane, state, jobs FROM {totals} WHERE lane > 0',
      'DROP TABLE IF EXISTS {totals}',
      "DELETE FROM {mutexes} WHERE name = 'counts'",
      'ALTER TABLE {lanes} DROP COLUMN empty_since',
      'ALTER TABLE {jobs} DROP COLUMN crowd_place',
      'ALTER TABLE {jobs} DROP COLUMN lane_place',
      'ALTER TABLE {jobs} DROP COLUMN crowd',
    ],
    compatibleFrom: 7,
  }
}
