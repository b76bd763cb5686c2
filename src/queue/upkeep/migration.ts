import { TreadleError } from '../../core/errors.ts'

/** One version of the schema: how to get to it from the version before, and back. Statements are in the engine's own dialect. */
export interface Migration {
  readonly up: readonly string[]
  /** Creates the schema in this version where there is none. Earlier versions are then not created. */
  readonly anew?: readonly string[]
  /** Null if going back would lose data written since. */
  readonly down: readonly string[] | null
  /** Removes the schema entirely, if that does not go through the earlier versions. Deliberately deletes everything. */
  readonly removal?: readonly string[]
  /**
   * The oldest version that a program may know and still work with this schema. During a deployment old workers run next to new
   * ones, so use the previous version whenever a change allows it.
   */
  readonly compatibleFrom: number
}

/** The schema version recorded in the database. */
export interface SchemaState {
  /** 0 if there is no schema. */
  readonly version: number
  /** The oldest version that a program may know and still work with this schema. */
  readonly compatibleFrom: number
}

export const noSchema: SchemaState = { version: 0, compatibleFrom: 0 }

export interface Fitness {
  /** The newest version that this program knows. */
  readonly latest: number
  readonly mayMigrate: boolean
  /** Where the schema is, worded as the start of a sentence. */
  readonly place: string
}

/** Refuses a schema that this program cannot work with and may not migrate. */
export function refuseUnfit({ version, compatibleFrom }: SchemaState, { latest, mayMigrate, place }: Fitness): void {
  if (compatibleFrom > latest) {
    throw new TreadleError(
      'SCHEMA_TOO_NEW',
      `${place} has schema version ${version}, written by a newer Treadle; this one knows up to ${latest}. Update the package.`,
    )
  }
  if (version < latest && !mayMigrate) {
    throw new TreadleError(
      'SCHEMA_OUTDATED',
      `${place} has schema version ${version}, this Treadle needs ${latest}. Run: npx treadle migrate`,
    )
  }
}

/** The target version: the newest unless `to` names one. A newer schema that this program can work with is kept. */
export function wantedVersion(found: SchemaState, to: number | undefined, place: string, latest: number): number {
  if (to !== undefined) return to
  refuseUnfit(found, { latest, mayMigrate: true, place })
  return Math.max(found.version, latest)
}

/** The table of versions, and the engine's SQL expression for the current time in milliseconds. */
export interface VersionTable {
  readonly name: string
  readonly nowMs: string
}

/** The statements that lead from one version to another; none if they are the same. Each version ends by recording itself. */
export function statementsBetween(
  migrations: readonly Migration[],
  from: number,
  to: number,
  { name, nowMs }: VersionTable,
): readonly string[] {
  if (from === to) return []
  refuseUnknown(migrations, from, to)
  const firstAnew = from === 0 ? Math.max(1, migrations.findIndex(({ anew }) => anew !== undefined) + 1) : 0
  if (to > from && to < firstAnew)
    throw new TreadleError('CONFIG_INVALID', `Schema version ${to} is not created any more: begin with ${firstAnew} or later`)
  const up = migrations.slice(from, to).flatMap(({ up: next, anew = next, compatibleFrom }, index) => {
    const version = from + index + 1
    const statements = version > firstAnew ? next : version === firstAnew ? anew : []
    const values = `${version}, ${compatibleFrom}, ${nowMs}`
    return [...statements, `INSERT INTO ${name} (version, compatible_from, applied_at) VALUES (${values})`]
  })
  return [...up, ...statementsBack(migrations, from, to, name)]
}

function statementsBack(migrations: readonly Migration[], from: number, to: number, versions: string): readonly string[] {
  const statements: string[] = []
  for (let version = from; version > to; version--) {
    const { down, removal } = migrations[version - 1] as Migration
    if (to === 0 && removal !== undefined) return [...statements, ...removal, `DELETE FROM ${versions}`]
    if (down === null) throw new TreadleError('CONFIG_INVALID', `Schema version ${version} cannot be undone without loss`)
    statements.push(...down, `DELETE FROM ${versions} WHERE version = ${version}`)
  }
  return statements
}

function refuseUnknown({ length: latest }: readonly Migration[], from: number, to: number): void {
  if (from > latest) {
    const message = `The schema has version ${from}, and this Treadle knows up to ${latest}: only the newer one can change it.`
    throw new TreadleError('SCHEMA_TOO_NEW', message)
  }
  if (!Number.isSafeInteger(to) || to < 0 || to > latest) {
    throw new TreadleError('CONFIG_INVALID', `There is no schema version ${to}: this Treadle knows 0 (none) to ${latest}`)
  }
}
