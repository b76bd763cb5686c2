import type { Migration } from '../../../queue/contract/migration.ts'
import { firstTables, sealedTables, tables } from '../../sql/rows/tables.ts'
import { crowdedLanes } from './crowded-lanes.ts'
import { listsByLane } from './lists-by-lane.ts'
import { createTable, mysqlTables } from './schema.ts'
import { statistics } from './statistics.ts'

/**
 * All versions of the schema, oldest first. Never change one that was released. These statements do not run in a transaction, so
 * each must be safe to run again.
 */
export function mysqlMigrations(exactCollation: string): readonly Migration[] {
  return [
    {
      up: [
        ...mysqlTables(exactCollation),
        "INSERT IGNORE INTO {mutexes} (name) VALUES ('claims'), ('links')",
        'INSERT IGNORE INTO {schedule_revision} (one, revision) VALUES (1, 0)',
      ],
      down: firstTables.map(([name]) => `DROP TABLE IF EXISTS {${name}}`),
      compatibleFrom: 1,
    },
    {
      up: [
        'ALTER TABLE {jobs} ADD COLUMN number BIGINT',
        'ALTER TABLE {jobs} ADD UNIQUE INDEX jobs_number (number)',
        createTable('numbers', tables.numbers, exactCollation),
        'INSERT IGNORE INTO {numbers} (one, next) VALUES (1, 1)',
      ],
      down: [
        'DROP TABLE IF EXISTS {numbers}',
        'ALTER TABLE {jobs} DROP INDEX jobs_number',
        'ALTER TABLE {jobs} DROP COLUMN number',
      ],
      compatibleFrom: 1,
    },
    {
      up: sealedTables.map((table) => `ALTER TABLE {${table}} ADD COLUMN seal LONGTEXT`),
      down: sealedTables.map((table) => `ALTER TABLE {${table}} DROP COLUMN seal`),
      compatibleFrom: 1,
    },
    storedSchedules(exactCollation),
    {
      up: [
        createTable('logs', tables.logs, exactCollation),
        createTable('tags', tables.tags, exactCollation),
        'ALTER TABLE {tags} ADD INDEX tags_job (job_id)',
      ],
      down: ['DROP TABLE IF EXISTS {logs}', 'DROP TABLE IF EXISTS {tags}'],
      compatibleFrom: 1,
    },
    {
      up: [createTable('transfers', tables.transfers, exactCollation)],
      down: ['DROP TABLE IF EXISTS {transfers}'],
      compatibleFrom: 1,
    },
    crowdedLanes(exactCollation),
    statistics(exactCollation),
    {
      up: [
        createTable('event_listeners', tables.event_listeners, exactCollation),
        createTable('event_position', tables.event_position, exactCollation),
        createTable('events', tables.events, exactCollation),
      ],
      down: ['event_listeners', 'event_position', 'events'].map((name) => `DROP TABLE IF EXISTS {${name}}`),
      compatibleFrom: 1,
    },
    listsByLane,
  ]
}

/** Schedules created at run time, and revisions that tell which schedules have changed since when. */
function storedSchedules(exactCollation: string): Migration {
  return {
    up: [
      'ALTER TABLE {schedules} ADD COLUMN definition LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
      'ALTER TABLE {schedules} ADD COLUMN signature LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
      'ALTER TABLE {schedules} ADD COLUMN revision BIGINT NOT NULL DEFAULT 1',
      'ALTER TABLE {schedules} ADD INDEX schedules_revision (revision)',
      createTable('removed_schedules', tables.removed_schedules, exactCollation),
      'ALTER TABLE {removed_schedules} ADD INDEX removed_schedules_revision (revision)',
    ],
    down: [
      'DROP TABLE IF EXISTS {removed_schedules}',
      'DELETE FROM {schedules} WHERE definition IS NOT NULL',
      'ALTER TABLE {schedules} DROP INDEX schedules_revision',
      'ALTER TABLE {schedules} DROP COLUMN revision',
      'ALTER TABLE {schedules} DROP COLUMN signature',
      'ALTER TABLE {schedules} DROP COLUMN definition',
    ],
    compatibleFrom: 1,
  }
}
