import type { Migration } from '../migrations.ts'
import { firstTables, sealedTables, tables } from '../sql/tables.ts'
import { createTable, mysqlTables } from './schema.ts'

/**
 * All versions of the schema, the first one first. What was released is never changed. No statement is part of a transaction here:
 * each must do no harm where it was run before.
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
  ]
}
