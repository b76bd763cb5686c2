import type { Migration } from '../migrations.ts'
import { firstTables, sealedTables, tables } from '../sql/tables.ts'
import { createTable, postgresTables } from './schema.ts'

/** All versions of the schema, the first one first. What was released is never changed. */
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
]
