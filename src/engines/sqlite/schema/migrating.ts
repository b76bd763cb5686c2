import { noSchema, refuseUnfit, type SchemaState, statementsBetween, wantedVersion } from '../../../queue/upkeep/migration.ts'
import type { Connection } from '../file/connection.ts'
import { finish, isUnfinished } from './converting.ts'
import { sqliteMigrations } from './schema.ts'

/** The first version with the tables that all engines share. */
const convertedSince = 5

export const latestVersion = sqliteMigrations.length

const versionTable = `CREATE TABLE IF NOT EXISTS treadle_schema (
  version INTEGER PRIMARY KEY,
  compatible_from INTEGER NOT NULL,
  applied_at INTEGER NOT NULL
)`

const nowMs = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"

/** Refuses a file that this version cannot use, before anything in it is changed. */
export function checkSchema(connection: Connection, path: string, mayMigrate: boolean): void {
  refuseUnfit(schemaState(connection), { latest: latestVersion, mayMigrate, place: path })
}

/**
 * Brings the file to a version, by default the newest. Several processes may start at once: the first one migrates, the others
 * find it done.
 */
export function migrate(connection: Connection, path: string, wanted?: number): void {
  const found = schemaState(connection)
  const to = wantedVersion(found, wanted, path, latestVersion)
  const needsFinish = () => to >= convertedSince && isUnfinished(connection)
  if (found.version === to && !needsFinish()) return
  connection.transaction(() => {
    connection.exec(versionTable)
    for (const statement of statementsTo(connection, to)) connection.exec(statement)
    if (needsFinish()) finish(connection)
  })
}

/** The statements that `migrate` would run; empty if there is nothing to do. */
export function plan(connection: Connection, path: string, wanted?: number): string {
  const found = schemaState(connection)
  const { version } = found
  const to = wantedVersion(found, wanted, path, latestVersion)
  const statements = statementsTo(connection, to)
  if (statements.length === 0) return ''
  const all = ['BEGIN IMMEDIATE', versionTable, ...statements.map((statement) => statement.trim().replace(/;$/, '')), 'COMMIT']
  return [`-- The schema of Treadle, from version ${version} to ${to}`, ...all.map((statement) => `${statement};`)].join('\n')
}

export function schemaState(connection: Connection): SchemaState {
  const table = connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'treadle_schema'")
  if (connection.read(() => table.get()) === undefined) return noSchema
  const newest = connection.prepare(
    'SELECT coalesce(max(version), 0) AS version, coalesce(max(compatible_from), 0) AS compatibleFrom FROM treadle_schema',
  )
  return connection.read(() => newest.get() as SchemaState)
}

function statementsTo(connection: Connection, to: number): readonly string[] {
  return statementsBetween(sqliteMigrations, schemaState(connection).version, to, { name: 'treadle_schema', nowMs })
}
