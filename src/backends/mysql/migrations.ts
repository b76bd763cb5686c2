import type { Migration } from '../migrations.ts'
import { tables } from '../sql/tables.ts'
import { mysqlTables } from './schema.ts'

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
      down: Object.keys(tables).map((name) => `DROP TABLE IF EXISTS {${name}}`),
      compatibleFrom: 1,
    },
  ]
}
