import type { Finding } from './diagnosis.ts'
import type { SchemaState } from './migration.ts'

/** Looking after the database itself, also one whose schema does not fit this program. */
export interface Upkeep {
  readonly kind: string
  readonly schema: SchemaUpkeep
  /** Looks at everything that could make the queue slow, wrong or less durable than it should be. Changes nothing. */
  diagnose(): Promise<readonly Finding[]>
}

/** One that was opened by itself, and not as a part of a queue. */
export type OpenUpkeep = Upkeep & AsyncDisposable

/** Reads and migrates the schema of a database. */
export interface SchemaUpkeep {
  /** The newest version that this program knows. */
  readonly latest: number
  state(): Promise<SchemaState>
  /** What `migrate` would run, for somebody who runs it by hand; empty where there is nothing to do. Changes nothing. */
  plan(to?: number): Promise<string>
  /** Brings the schema to this version, or to the newest. Of several programs that do so at once one does it, the others find it done. */
  migrate(to?: number): Promise<SchemaState>
}
