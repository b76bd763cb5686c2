import type { Migration } from '../../../queue/upkeep/migration.ts'
import { crowdedFrom, mostSingleLanes } from '../../sql/lanes/lane-numbers.ts'
import { jobView } from '../../sql/rows/job-view.ts'
import { type OwnSteps, versionsOf } from '../../sql/upkeep/versions.ts'
import { crowdColumn, crowdColumns, crowdIndex, listedColumn, listedIndex } from './places.ts'
import { mysqlSchema } from './schema.ts'

/** The lane of jobs that were listed by it alone, until version 10. */
const laneColumn = 'lane_place INT AS (CASE WHEN state * (state - 3) * (state - 4 + linked) <> 0 THEN lane END) STORED'
const laneIndex = 'jobs_lane'

/** Lanes with running jobs keep their numbers, because settling a running job names its lane. */
const crowdedLanes: OwnSteps = {
  up: [
    `ALTER TABLE {jobs} ADD COLUMN ${crowdColumn}`,
    `ALTER TABLE {jobs} ADD COLUMN ${laneColumn}`,
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
  ],
  down: [
    `ALTER TABLE {jobs} DROP INDEX ${crowdIndex}`,
    `ALTER TABLE {jobs} DROP INDEX ${laneIndex}`,
    'INSERT INTO {counts} (lane, state, jobs) SELECT lane, state, jobs FROM {totals} WHERE lane > 0',
    "DELETE FROM {mutexes} WHERE name = 'counts'",
    'ALTER TABLE {jobs} DROP COLUMN crowd_place',
    'ALTER TABLE {jobs} DROP COLUMN lane_place',
  ],
}

const view = jobView({
  // Not FROM_UNIXTIME, which depends on the connection's time zone.
  time: (column) => `TIMESTAMPADD(MICROSECOND, ${column} * 1000, TIMESTAMP '1970-01-01 00:00:00')`,
  lastError: (column) =>
    `CASE WHEN JSON_VALID(${column}) THEN JSON_UNQUOTE(JSON_EXTRACT(${column}, CONCAT('$[', JSON_LENGTH(${column}) - 1, '].message'))) END`,
})

/** Older programs name the index that they use. */
const listsByLane: OwnSteps = {
  up: [
    `ALTER TABLE {jobs} ADD COLUMN ${listedColumn}, ADD INDEX ${listedIndex} (listed_place)`,
    `ALTER TABLE {jobs} DROP INDEX ${laneIndex}, DROP COLUMN lane_place`,
  ],
  down: [
    `ALTER TABLE {jobs} ADD COLUMN ${laneColumn}, ADD INDEX ${laneIndex} (lane_place)`,
    `ALTER TABLE {jobs} DROP INDEX ${listedIndex}, DROP COLUMN listed_place`,
  ],
  compatibleFrom: 10,
}

export function mysqlMigrations(exactCollation: string): readonly Migration[] {
  return versionsOf(mysqlSchema(exactCollation), {
    1: {
      up: [
        "INSERT IGNORE INTO {mutexes} (name) VALUES ('claims'), ('links')",
        'INSERT IGNORE INTO {schedule_revision} (one, revision) VALUES (1, 0)',
      ],
    },
    2: { up: ['INSERT IGNORE INTO {numbers} (one, next) VALUES (1, 1)'] },
    7: crowdedLanes,
    8: {
      up: [
        "INSERT IGNORE INTO {mutexes} (name) VALUES ('rollups')",
        `CREATE OR REPLACE SQL SECURITY INVOKER VIEW {job_view} AS ${view}`,
      ],
      down: ['DROP VIEW IF EXISTS {job_view}', "DELETE FROM {mutexes} WHERE name = 'rollups'"],
    },
    10: listsByLane,
  })
}
