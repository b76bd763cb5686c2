import {
  type Migration,
  noSchema,
  refuseUnfit,
  type SchemaState,
  statementsBetween,
  wantedVersion,
} from '../../../queue/contract/migration.ts'
import type { SchemaUpkeep } from '../../../queue/contract/upkeep.ts'
import type { TableNames } from '../rows/table-names.ts'
import type { SqlDatabase, SqlSession } from '../session.ts'

/** What the engine has a word in when its tables are made and changed. */
export interface SchemaEngine {
  readonly migrations: readonly Migration[]
  /** Where the schema is, for people, at the beginning of a sentence. */
  readonly place: string
  /** The time in milliseconds. */
  readonly nowMs: string
  /** What a plan begins and ends with, so that it is run as the program would run it. */
  readonly planFrame: { readonly before: readonly string[]; readonly after: readonly string[] }
  /** Statements that make the table of versions and what it stands in, as far as that is missing. */
  ground(session: SqlSession): Promise<readonly string[]>
  /** Runs `work` while no other program does the same. */
  alone<Answer>(work: (session: SqlSession) => Promise<Answer>): Promise<Answer>
  /** Whether the table of versions is there. Asked for, because servers write statements that fail into their logs. */
  isMade(session: SqlSession): Promise<boolean>
  /** The statement was run before: only where statements cannot be part of a transaction. */
  isDone(thrown: unknown): boolean
  /** The same error with the rights that are missing, where that is why. */
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
