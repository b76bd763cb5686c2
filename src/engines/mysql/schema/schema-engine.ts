import { wait } from '../../../core/answer.ts'
import { messageOf, TreadleError } from '../../../core/errors.ts'
import type { Migration } from '../../../queue/upkeep/migration.ts'
import type { SqlSession } from '../../sql/session.ts'
import type { SchemaEngine } from '../../sql/upkeep/migrating.ts'
import type { MysqlDatabase } from '../connections/database.ts'
import { numberOf } from '../connections/failure.ts'

const versionTable = `CREATE TABLE IF NOT EXISTS {migrations} (
  version INT NOT NULL,
  compatible_from INT NOT NULL,
  applied_at BIGINT NOT NULL,
  PRIMARY KEY (version)
) ENGINE = InnoDB`

/** A table, column, key or row already exists, or is already gone. */
const done = new Set([1050, 1051, 1060, 1061, 1062, 1091])
const deniedCommand = 1142
const longestWaitSeconds = 60

/** DDL cannot be rolled back, so a retry skips the statements that ran before the failure. */
export function mysqlSchemaEngine(database: MysqlDatabase, prefix: string, migrations: readonly Migration[]): SchemaEngine {
  // A lock's name has at most 64 characters, and newer servers have no MD5.
  const lock = `SHA2(CONCAT('treadle migrations ', DATABASE(), ' ${prefix}'), 256)`
  const take = `SELECT GET_LOCK(${lock}, ${longestWaitSeconds}) AS got`
  const free = `SELECT RELEASE_LOCK(${lock}) AS freed`
  return {
    migrations,
    place: `The tables "${prefix}…"`,
    nowMs: 'FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000)',
    planFrame: { before: [take], after: [free] },
    ground: async () => [versionTable],
    alone: (work) => {
      const locked = async (session: SqlSession) => {
        await takeLock(session, take)
        try {
          return await work(session)
        } finally {
          await session.all(free)
        }
      }
      return database.patientTransaction((session) => wait(locked(session)))
    },
    async isMade(session) {
      const table = 'SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?'
      return (await session.all(table, [`${prefix}migrations`])).length > 0
    },
    isDone: (thrown) => done.has(numberOf(thrown) ?? 0) || isDeniedView(thrown),
    explained: (thrown) => explained(thrown, database),
  }
}

/** The queue works without its view, which needs a separate privilege here. It can be created by hand. */
function isDeniedView(thrown: unknown): boolean {
  return numberOf(thrown) === deniedCommand && /\bCREATE VIEW command denied\b/.test(messageOf(thrown))
}

async function takeLock(session: SqlSession, take: string): Promise<void> {
  const [answer] = await session.all<{ got: number | null }>(take)
  if (answer?.got === 1) return
  const message = `Another program has been migrating the schema for more than ${longestWaitSeconds} seconds. Try again.`
  throw new TreadleError('DATABASE_BUSY', message)
}

/** Adds the statement that grants the missing privileges. */
async function explained(thrown: unknown, session: SqlSession): Promise<unknown> {
  if (!(thrown instanceof TreadleError) || thrown.code !== 'DATABASE_DENIED') return thrown
  const [who] = await session.all<{ login: string; name: string }>('SELECT CURRENT_USER() AS login, DATABASE() AS name')
  if (who === undefined) return thrown
  const [name, host] = who.login.split(/@(?=[^@]*$)/)
  const to = `ON \`${who.name}\`.* TO '${name}'@'${host}';`
  const remedy = `An administrator can run: GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, INDEX, DROP, CREATE VIEW ${to}`
  const less = 'If an administrator runs "npx treadle migrate", the first four are enough.'
  return new TreadleError('DATABASE_DENIED', `${thrown.message}. ${remedy} ${less}`, { cause: thrown.cause })
}
