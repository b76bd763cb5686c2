import type { Migration } from '../migrations.ts'
import { tables } from '../sql/tables.ts'
import { postgresTables } from './schema.ts'

/** All versions of the schema, the first one first. What was released is never changed. */
export const postgresMigrations: readonly Migration[] = [
  {
    up: [
      ...postgresTables(),
      "INSERT INTO {mutexes} (name) VALUES ('claims'), ('links')",
      'INSERT INTO {schedule_revision} (one, revision) VALUES (1, 0)',
    ],
    down: Object.keys(tables).map((name) => `DROP TABLE {${name}}`),
    compatibleFrom: 1,
  },
]
