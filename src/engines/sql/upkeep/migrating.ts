import type { SchemaUpkeep } from '../../../queue/contract/upkeep.ts'
import {
  type Migration,
  noSchema,
  refuseUnfit,
  type SchemaState,
  statementsBetween,
  wantedVersion,
} from '../../../queue/upkeep/migration.ts'
import type { TableNames } from '../rows/table-names.ts'
import type { SqlDatabase, SqlSession } from '../session.ts'

/** What an engine supplies for creating and changing its tables. */
export interface SchemaEngine {
  readonly migrations: readonly Migration[]
  /** Where the schema is, as the beginning of a sentence for users. */
  readonly place: string
  /** An SQL expression for the current time in milliseconds. */
  readonly nowMs: string
  /** Statements that a plan begins and ends with, so that it runs as the program would run it. */
  readonly planFrame: { readonly before: readonly string[]; readonly after: readonly string[] }
  /** Statements that create the table of versions, and the schema it is in, as far as they are missing. */
  ground(session: SqlSession): Promise<readonly string[]>
  /** Runs `work` while no other program is migrating. */
  alone<Answer>(work: (session: SqlSession) => Promise<Answer>): Promise<Answer>
  /** Whether the table of versions exists. Checked explicitly, because servers log statements that fail. */
  isMade(session: SqlSession): Promise<boolean>
  /** Whether the error means that the statement was already run. Only for engines where it cannot be part of a transaction. */
  isDone(thrown: unknown): boolean
  /** The same error, naming the missing privileges if that is the cause. */
  explained(thrown: unknown): Promise<unknown>
}

/** Keeps the tables of a queue in a SQL database up to date. */
export class Migrating implements SchemaUpkeep {
  readonly latest: number
  readonly #database: SqlDatabase
  readonly #engine: SchemaEngine
  readonly #names: TableNames

  constructor(database: SqlDatabase, engine: SchemaEngine, names: TableNames) {
    this.latest = engine.migrations.length
    this.#database = database
    this.#engine = engine
    this.#names = names
  }

  /** Brings the schema up to date, or refuses one that this program cannot work with. */
  async prepare(mayMigrate: boolean): Promise<void> {
    const found = await this.state()
    refuseUnfit(found, { latest: this.latest, mayMigrate, place: this.#engine.place })
    if (found.version < this.latest) await this.migrate()
  }

  state(): Promise<SchemaState> {
    return this.#explaining(async () => {
      return (await this.#engine.isMade(this.#database)) ? readState(this.#database) : noSchema
    })
  }

  async plan(wanted?: number): Promise<string> {
    const found = await this.state()
    const { version } = found
    const to = this.#wanted(found, wanted)
    const statements = this.#statements(version, to)
    if (statements.length === 0) return ''
    const { before, after } = this.#engine.planFrame
    const ground = await this.#engine.ground(this.#database)
    const all = [...before, ...ground, ...statements, ...after].map((statement) => `${this.#names.in(statement)};`)
    return [`-- The schema of Treadle, from version ${version} to ${to}`, ...all].join('\n')
  }

  async migrate(wanted?: number): Promise<SchemaState> {
    const found = await this.state()
    const to = this.#wanted(found, wanted)
    if (this.#statements(found.version, to).length === 0) return found
    return this.#explaining(() =>
      this.#engine.alone(async (session) => {
        await this.#run(session, await this.#engine.ground(session))
        const { version } = await readState(session)
        await this.#run(session, this.#statements(version, to))
        return readState(session)
      }),
    )
  }

  #wanted(found: SchemaState, to: number | undefined): number {
    return wantedVersion(found, to, this.#engine.place, this.latest)
  }

  #statements(from: number, to: number): readonly string[] {
    return statementsBetween(this.#engine.migrations, from, to, { name: '{migrations}', nowMs: this.#engine.nowMs })
  }

  async #run(session: SqlSession, statements: readonly string[]): Promise<void> {
    for (const statement of statements) {
      try {
        await session.run(statement)
      } catch (thrown) {
        if (!this.#engine.isDone(thrown)) throw thrown
      }
    }
  }

  async #explaining<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    try {
      return await work()
    } catch (thrown) {
      throw await this.#engine.explained(thrown)
    }
  }
}

async function readState(session: SqlSession): Promise<SchemaState> {
  const [row] = await session.all<{ version: number | null; compatible: number | null }>(
    'SELECT MAX(version) AS version, MAX(compatible_from) AS compatible FROM {migrations}',
  )
  return { version: row?.version ?? 0, compatibleFrom: row?.compatible ?? 0 }
}
