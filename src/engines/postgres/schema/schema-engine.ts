import { wait } from '../../../core/answer.ts'
import { TreadleError } from '../../../core/errors.ts'
import type { Migration } from '../../../queue/upkeep/migration.ts'
import type { SqlSession } from '../../sql/session.ts'
import type { SchemaEngine } from '../../sql/upkeep/migrating.ts'
import type { PostgresDatabase } from '../connections/database.ts'
import { stateOf } from '../connections/failure.ts'
import { missingRight, rightsIn } from './rights.ts'

const versionTable = `CREATE TABLE IF NOT EXISTS {migrations} (
  version integer PRIMARY KEY,
  compatible_from integer NOT NULL,
  applied_at bigint NOT NULL
)`

/** Runs everything in one transaction, in one program at a time. */
export function postgresSchemaEngine(database: PostgresDatabase, schema: string, migrations: readonly Migration[]): SchemaEngine {
  const lock = `SELECT pg_advisory_xact_lock(hashtext('treadle migrations'), hashtext('${schema}'))`
  return {
    migrations,
    place: `The schema "${schema}"`,
    nowMs: 'floor(extract(epoch FROM clock_timestamp()) * 1000)',
    planFrame: { before: ['BEGIN', lock], after: ['COMMIT'] },
    async ground(session) {
      // Checked first, because CREATE SCHEMA needs a privilege even if the schema exists, and its owner may lack it.
      return (await isThere(session, schema)) ? [versionTable] : [`CREATE SCHEMA ${schema}`, versionTable]
    },
    alone: (work) =>
      database.patientTransaction(function* (session) {
        yield* wait(session.run('SET LOCAL statement_timeout = 0'))
        yield* wait(session.run(lock))
        return yield* wait(work(session))
      }),
    async isMade(session) {
      const [answer] = await session.all<{ made: number }>('SELECT (to_regclass(?) IS NOT NULL)::int AS made', [
        `${schema}.migrations`,
      ])
      return answer?.made === 1
    },
    isDone: () => false,
    explained: (thrown) => explained(thrown, database, schema),
  }
}

async function isThere(session: SqlSession, schema: string): Promise<boolean> {
  return (await session.all('SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = ?', [schema])).length > 0
}

const denied = '42501'

/** Only the owner can alter tables. The original error already names any privilege that can be granted. */
async function explained(thrown: unknown, session: SqlSession, schema: string): Promise<unknown> {
  if (stateOf(thrown) !== denied || !(thrown instanceof TreadleError)) return thrown
  const rights = await rightsIn(session, schema)
  if (rights === undefined || missingRight(rights, schema) !== null) return thrown
  const message = `${thrown.message}. The owner of the tables can run: npx treadle migrate`
  return new TreadleError('DATABASE_DENIED', message, { cause: thrown.cause })
}
