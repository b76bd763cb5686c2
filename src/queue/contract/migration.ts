import { TreadleError } from '../../core/errors.ts'

/** One version of the schema: the way to it from the one before, and back. Its statements are in the words of the engine. */
export interface Migration {
  readonly up: readonly string[]
  /** Null where the way back would lose what was written since. */
  readonly down: readonly string[] | null
  /** The way to no schema at all, where it is not a way through the versions before. All is lost then, and meant to be. */
  readonly removal?: readonly string[]
  /**
   * Programs that know the schema up to this version can go on working with it. In a deployment the old workers run beside the new
   * ones for a while, so this is the version before wherever a change allows it.
   */
  readonly compatibleFrom: number
}

/** What the database says of its schema. */
export interface SchemaState {
  /** 0 where there is none. */
  readonly version: number
  /** The oldest version that a program may know to work with it. */
  readonly compatibleFrom: number
}

export const noSchema: SchemaState = { version: 0, compatibleFrom: 0 }

export interface Fitness {
  /** The newest version that this program knows. */
  readonly latest: number
  readonly mayMigrate: boolean
  /** Where the schema is, at the beginning of a sentence. */
  readonly place: string
}

/** Refuses a schema that this program cannot work with, and may not bring up to date. */
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

/** The version that is asked for: the newest unless another one is named. A newer one that this program can work with stays. */
export function wantedVersion(found: SchemaState, to: number | undefined, place: string, latest: number): number {
  if (to !== undefined) return to
  refuseUnfit(found, { latest, mayMigrate: true, place })
  return Math.max(found.version, latest)
}

/** The table of versions, and the time in milliseconds as the engine tells it. */
export interface VersionTable {
  readonly name: string
  readonly nowMs: string
}

/** The statements that lead from one version to another; none where they are the same. Each version ends with its own record. */
export function statementsBetween(
  migrations: readonly Migration[],
  from: number,
  to: number,
  { name, nowMs }: VersionTable,
): readonly string[] {
  if (from === to) return []
  refuseUnknown(migrations, from, to)
  const up = migrations.slice(from, to).flatMap(({ up: statements, compatibleFrom }, index) => {
    const values = `${from + index + 1}, ${compatibleFrom}, ${nowMs}`
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
