import { TreadleError } from '../../core/errors.ts'
import type { Migration } from '../migrations.ts'
import type { SchemaEngine } from '../sql/migrating.ts'
import type { SqlSession } from '../sql/session.ts'
import type { PostgresDatabase } from './database.ts'
import { stateOf } from './failure.ts'

const versionTable = `CREATE TABLE IF NOT EXISTS {migrations} (
  version integer PRIMARY KEY,
  compatible_from integer NOT NULL,
  applied_at bigint NOT NULL
)`

/** There is no such table, or no such schema. */
const missing = new Set(['42P01', '3F000'])

/** Everything is done in one transaction, by one program at a time. */
export function postgresSchemaEngine(database: PostgresDatabase, schema: string, migrations: readonly Migration[]): SchemaEngine {
  const lock = `SELECT pg_advisory_xact_lock(hashtext('treadle migrations'), hashtext('${schema}'))`
  return {
    migrations,
    place: `The schema "${schema}"`,
    nowMs: 'floor(extract(epoch FROM clock_timestamp()) * 1000)',
    planFrame: { before: ['BEGIN', lock], after: ['COMMIT'] },
    async ground(session) {
      // Asked for, because making a schema that is there takes a right that its owner need not have.
      return (await isThere(session, schema)) ? [versionTable] : [`CREATE SCHEMA ${schema}`, versionTable]
    },
    alone: (work) =>
      database.patientTransaction(async (session) => {
        await session.run('SET LOCAL statement_timeout = 0')
        await session.run(lock)
        return work(session)
      }),
    isMissing: (thrown) => missing.has(stateOf(thrown) ?? ''),
    isDone: () => false,
    explained: (thrown) => explained(thrown, database, schema),
  }
}

async function isThere(session: SqlSession, schema: string): Promise<boolean> {
  return (await session.all('SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = ?', [schema])).length > 0
}

const denied = '42501'

interface Rights {
  readonly login: string
  readonly database: string
  readonly has_schema: number
  readonly has_tables: number
  /** Whether it may read and write in what is there: somebody else's tables can only be changed by their owner. */
  readonly works: number | null
}

/** Says what gives the right that is missing. */
async function explained(thrown: unknown, session: SqlSession, schema: string): Promise<unknown> {
  if (stateOf(thrown) !== denied || !(thrown instanceof TreadleError)) return thrown
  const [rights] = await session.all<Rights>(
    `SELECT quote_ident(current_user) AS login, quote_ident(current_database()) AS database,
       (namespace.oid IS NOT NULL)::int AS has_schema, (versions.oid IS NOT NULL)::int AS has_tables,
       (has_schema_privilege(namespace.oid, 'USAGE') AND has_table_privilege(versions.oid, 'INSERT'))::int AS works
     FROM (SELECT 1) AS one
     LEFT JOIN pg_catalog.pg_namespace AS namespace ON namespace.nspname = ?
     LEFT JOIN pg_catalog.pg_class AS versions ON versions.relnamespace = namespace.oid AND versions.relname = 'migrations'`,
    [schema],
  )
  if (rights === undefined) return thrown
  return new TreadleError('DATABASE_DENIED', `${thrown.message}. ${remedyOf(rights, schema)}`, { cause: thrown.cause })
}

function remedyOf({ login, database, has_schema, has_tables, works }: Rights, schema: string): string {
  if (has_schema === 0) return `An administrator can run: GRANT CREATE ON DATABASE ${database} TO ${login};`
  if (has_tables === 0) return `An administrator can run: GRANT USAGE, CREATE ON SCHEMA ${schema} TO ${login};`
  if (works === 1) return 'The owner of the tables can run: npx treadle migrate'
  const tables = `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${login};`
  return `An administrator can run: GRANT USAGE ON SCHEMA ${schema} TO ${login}; ${tables}`
}
