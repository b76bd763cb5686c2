import type { Finding } from '../upkeep/diagnosis.ts'
import type { SchemaState } from '../upkeep/migration.ts'

/** Maintenance of the database itself, even if its schema does not fit this program. */
export interface Upkeep {
  readonly kind: string
  readonly schema: SchemaUpkeep
  /** Checks everything that could make the queue slow, wrong or less durable than it should be. Changes nothing. */
  diagnose(): Promise<readonly Finding[]>
}

/** Opened on its own, not as part of a queue. */
export type OpenUpkeep = Upkeep & AsyncDisposable

/** Reads and migrates the schema of a database. */
export interface SchemaUpkeep {
  /** The newest version that this program knows. */
  readonly latest: number
  state(): Promise<SchemaState>
  /** The statements that `migrate` would run, for running them by hand. Empty if there is nothing to do. Changes nothing. */
  plan(to?: number): Promise<string>
  /**
   * Brings the schema to this version, or to the newest. If several programs do this at once, one migrates and the others find it
   * done.
   */
  migrate(to?: number): Promise<SchemaState>
}
