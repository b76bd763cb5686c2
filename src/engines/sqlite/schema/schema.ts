import type { Migration } from '../../../queue/upkeep/migration.ts'
import { crowdedFrom, mostSingleLanes } from '../../sql/lanes/lane-numbers.ts'
import { jobView } from '../../sql/rows/job-view.ts'
import { type Column, type ColumnType, type Index, indexes, type Table, tables } from '../../sql/rows/tables.ts'
import {
  compatibility,
  declared,
  type NamedColumn,
  type OwnSteps,
  type SchemaWriter,
  tablesUpTo,
  versionOf,
} from '../../sql/upkeep/versions.ts'
import { names } from '../statements.ts'
import { converted } from './converting.ts'
import { firstMigrations, stamps } from './first-schemas.ts'

/** Long columns come last: reading the others does not have to pass them. */
const lastInJobs: readonly string[] = ['identity', 'payload', 'signature', 'reason', 'errors', 'progress', 'result', 'seal']

function inJobs(): Readonly<Record<string, Column>> {
  const isLast = ([name]: NamedColumn) => lastInJobs.includes(name)
  const all: readonly NamedColumn[] = Object.entries(tables.jobs.columns)
  const last = all.filter(isLast).sort(([one], [other]) => lastInJobs.indexOf(one) - lastInJobs.indexOf(other))
  // What the identities of jobs of one kind have in common is in a table of its own, by this number.
  const stamp: NamedColumn = ['stamp', { type: 'int', nullable: true }]
  return Object.fromEntries([...all.filter((column) => !isLast(column)), stamp, ...last])
}

const { totals, ...shared } = tables
/** Only one transaction writes at a time, so there is one row for each lane and state, and no totals beside them. */
const counts: Table = { columns: totals.columns, primary: totals.primary }
const own: Readonly<Record<string, Table>> = { ...shared, counts, jobs: { ...tables.jobs, columns: inJobs() } }

/** A partial index is searched by what all of its rows have in common anyway. */
const shorter: Readonly<Record<string, readonly string[]>> = {
  jobs_scheduled: ['run_at'],
  edges_target: ['target'],
  once_held: ['claimed_at'],
  occurrences_unended: ['schedule', 'at'],
}

const types: Readonly<Record<ColumnType, string>> = {
  id: 'TEXT',
  name: 'TEXT',
  text: 'TEXT',
  int: 'INTEGER',
  big: 'INTEGER',
  flag: 'INTEGER',
  serial: 'INTEGER',
}
/** Claims find jobs by row number, and rows of logs and parcels are long. */
const withRowNumbers = ['jobs', 'logs', 'transfers']

const sqliteSchema: SchemaWriter = {
  tables: own,
  indexes: indexes.map((index) => ({ ...index, columns: shorter[index.name] ?? index.columns })),
  createTable(name, { columns, primary }, indexed) {
    const [key = '', ...others] = primary
    const isNumbered = others.length === 0 && types[columns[key]?.type ?? 'text'] === 'INTEGER'
    const lines = Object.entries(columns).map(([column, of]) => {
      if (!isNumbered || column !== key) return columnText([column, of])
      // Other processes remember the numbers of lanes: none is given twice.
      return `${key} INTEGER PRIMARY KEY${name === 'lanes' ? ' AUTOINCREMENT' : ''}`
    })
    if (!isNumbered) lines.push(`PRIMARY KEY (${primary.join(', ')})`)
    const kind = isNumbered || withRowNumbers.includes(name) ? '' : ' WITHOUT ROWID'
    return [`CREATE TABLE {${name}} (\n  ${lines.join(',\n  ')}\n)${kind}`, ...indexed.map(createIndex)]
  },
  dropTable: (name) => `DROP TABLE {${name}}`,
  addColumns: (table, columns) => columns.map((column) => `ALTER TABLE {${table}} ADD COLUMN ${columnText(column)}`),
  dropColumns: (table, columns) => columns.map((name) => `ALTER TABLE {${table}} DROP COLUMN ${name}`),
  createIndex,
  dropIndex: ({ name }) => `DROP INDEX {${name}}`,
}

function columnText([name, column]: NamedColumn): string {
  return declared(name, column, types[column.type])
}

function createIndex({ name, table, columns, unique, where }: Index): string {
  const kind = unique === true ? 'UNIQUE INDEX' : 'INDEX'
  return `CREATE ${kind} {${name}} ON {${table}} (${columns.join(', ')})${where === undefined ? '' : ` WHERE ${where}`}`
}

/** For lists of a lane, until version 10 of the shared tables. */
const laneIndex = 'CREATE INDEX {jobs_lane} ON {jobs} (lane, id) WHERE state * (state - 3) * (state - 4 + linked) <> 0'

/** Lane 0 counts the jobs of all lanes together. Lanes with running jobs keep their numbers: settling a job names its lane. */
const crowdedLanes: OwnSteps = {
  up: [
    `UPDATE {lanes} SET lane = lane + ${crowdedFrom} WHERE lane IN (
      SELECT lane FROM {lanes} WHERE lane NOT IN (SELECT lane FROM {jobs} WHERE state = 3)
      ORDER BY lane LIMIT -1 OFFSET ${mostSingleLanes})`,
    `UPDATE {jobs} SET lane = lane + ${crowdedFrom},
      crowd = (SELECT -priority FROM {lanes} AS lanes WHERE lanes.lane = {jobs}.lane + ${crowdedFrom})
      WHERE lane + ${crowdedFrom} IN (SELECT lane FROM {lanes} WHERE lane > ${crowdedFrom})`,
    ...['counts', 'groups'].map(
      (table) => `UPDATE {${table}} SET lane = lane + ${crowdedFrom}
        WHERE lane + ${crowdedFrom} IN (SELECT lane FROM {lanes} WHERE lane > ${crowdedFrom})`,
    ),
    'INSERT INTO {counts} (lane, state, jobs) SELECT 0, state, sum(jobs) FROM {counts} GROUP BY state',
    laneIndex,
  ],
  down: ['DROP INDEX {jobs_lane}', 'DELETE FROM {counts} WHERE lane = 0'],
}

const view = jobView({
  time: (column) => `strftime('%Y-%m-%dT%H:%M:%fZ', ${column} / 1000.0, 'unixepoch')`,
  lastError: (column) => `CASE WHEN json_valid(${column}) THEN json_extract(${column}, '$[#-1].message') END`,
})

/** The version of the shared tables in the first of SQLite's versions that has them, and that version. */
const firstShared = 3
const convertedSince = firstMigrations.length + 1

/** The shared tables cannot be migrated back to SQLite's own: of keys that outlive their jobs, only digests remain. */
function conversion(): Migration {
  const first = tablesUpTo(own, firstShared)
  const created = first.flatMap(([name, table]) => sqliteSchema.createTable(name, table, []))
  const indexed = sqliteSchema.indexes.filter(({ since = 1 }) => since <= firstShared).map(createIndex)
  // One table of the earlier versions stays unchanged: `treadle_stamps`.
  const removal = ['DROP TABLE {stamps}', ...first.map(([name]) => sqliteSchema.dropTable(name))]
  const anew = [
    ...created,
    ...indexed,
    stamps,
    "INSERT INTO {mutexes} (name) VALUES ('claims'), ('links')",
    'INSERT INTO {schedule_revision} (one, revision) VALUES (1, 0)',
    'INSERT INTO {numbers} (one, next) VALUES (1, 1)',
  ]
  // Indexes are created after the rows were copied, which is faster.
  return { up: converted(created, indexed), anew, down: null, removal, compatibleFrom: convertedSince }
}

function laterVersions(steps: Readonly<Record<number, OwnSteps>>): readonly Migration[] {
  return compatibility.slice(firstShared).map((known, index) => {
    const version = firstShared + 1 + index
    const compatibleFrom = Math.max(convertedSince, known + convertedSince - firstShared)
    return versionOf(sqliteSchema, version, { ...steps[version], compatibleFrom })
  })
}

/** All versions of the schema, oldest first. Released migrations are never changed. */
export const sqliteMigrations: readonly Migration[] = [
  ...firstMigrations,
  ...[
    conversion(),
    ...laterVersions({
      7: crowdedLanes,
      8: { up: [`CREATE VIEW {job_view} AS ${view}`], down: ['DROP VIEW {job_view}'] },
      10: { up: ['DROP INDEX {jobs_lane}'], down: [laneIndex] },
    }),
  ].map(inFile),
]

function inFile({ up, anew, down, removal, compatibleFrom }: Migration): Migration {
  const written = (statements: readonly string[]) => statements.map((sql) => names.in(sql))
  return {
    up: written(up),
    ...(anew !== undefined && { anew: written(anew) }),
    down: down === null ? null : written(down),
    ...(removal !== undefined && { removal: written(removal) }),
    compatibleFrom,
  }
}
