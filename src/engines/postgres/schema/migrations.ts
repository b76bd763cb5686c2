import type { Migration } from '../../../queue/contract/migration.ts'
import { firstTables, sealedTables, tables } from '../../sql/rows/tables.ts'
import { crowdedLanes } from './crowded-lanes.ts'
import { listsByLane } from './lists-by-lane.ts'
import { createTable, postgresTables } from './schema.ts'
import { statistics } from './statistics.ts'

/** Schedules created at run time, and revisions that tell which schedules have changed since when. */
const storedSchedules: Migration = {
  up: [
    'ALTER TABLE {schedules} ADD COLUMN definition text, ADD COLUMN signature text, ADD COLUMN revision bigint NOT NULL DEFAULT 1',
    createTable('removed_schedules', tables.removed_schedules),
    'CREATE INDEX schedules_revision ON {schedules} (revision)',
    'CREATE INDEX removed_schedules_revision ON {removed_schedules} (revision)',
  ],
  down: [
    'DROP TABLE {removed_schedules}',
    'DELETE FROM {schedules} WHERE definition IS NOT NULL',
    'ALTER TABLE {schedules} DROP COLUMN definition, DROP COLUMN signature, DROP COLUMN revision',
  ],
  compatibleFrom: 1,
}

/** All versions of the schema, oldest first. Never change one that was released. */
export const postgresMigrations: readonly Migration[] = [
  {
    up: [
      ...postgresTables(),
      "INSERT INTO {mutexes} (name) VALUES ('claims'), ('links')",
      'INSERT INTO {schedule_revision} (one, revision) VALUES (1, 0)',
    ],
    down: firstTables.map(([name]) => `DROP TABLE {${name}}`),
    compatibleFrom: 1,
  },
  {
    up: [
      'ALTER TABLE {jobs} ADD COLUMN number bigint',
      'CREATE UNIQUE INDEX jobs_number ON {jobs} (number) WHERE number IS NOT NULL',
      createTable('numbers', tables.numbers),
      'INSERT INTO {numbers} (one, next) VALUES (1, 1)',
    ],
    down: ['DROP TABLE {numbers}', 'ALTER TABLE {jobs} DROP COLUMN number'],
    compatibleFrom: 1,
  },
  {
    up: sealedTables.map((table) => `ALTER TABLE {${table}} ADD COLUMN seal text`),
    down: sealedTables.map((table) => `ALTER TABLE {${table}} DROP COLUMN seal`),
    compatibleFrom: 1,
  },
  storedSchedules,
  {
    up: [createTable('logs', tables.logs), createTable('tags', tables.tags), 'CREATE INDEX tags_job ON {tags} (job_id)'],
    down: ['DROP TABLE {logs}', 'DROP TABLE {tags}'],
    compatibleFrom: 1,
  },
  {
    up: [createTable('transfers', tables.transfers)],
    down: ['DROP TABLE {transfers}'],
    compatibleFrom: 1,
  },
  crowdedLanes,
  statistics,
  {
    up: [
      createTable('event_listeners', tables.event_listeners),
      createTable('event_position', tables.event_position),
      createTable('events', tables.events),
    ],
    down: ['DROP TABLE {event_listeners}', 'DROP TABLE {event_position}', 'DROP TABLE {events}'],
    compatibleFrom: 1,
  },
  listsByLane,
]
