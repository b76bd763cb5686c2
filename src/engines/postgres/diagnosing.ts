import { formatDuration } from '../../core/time/duration.ts'
import {
  type Finding,
  type Judgement,
  judgeConnections,
  judgeSettings,
  problem,
  runChecks,
  warning,
  well,
} from '../../queue/upkeep/diagnosis.ts'
import { TableNames } from '../sql/rows/table-names.ts'
import { indexes, tables } from '../sql/rows/tables.ts'
import type { SqlDatabase } from '../sql/session.ts'
import {
  checkClock,
  checkSchema,
  type DiagnosingParts,
  type FoundColumn,
  judgeIndexes,
  judgeTables,
  judgeTransactions,
  type LongTransaction,
  tableNames,
} from '../sql/upkeep/diagnosing.ts'
import { missingRight, rightsIn } from './schema/rights.ts'
import { createIndex } from './schema/schema.ts'

export interface PostgresDiagnosingParts extends DiagnosingParts {
  /** The schema that holds the tables. */
  readonly place: string
  /** How long a statement of the queue may take. */
  readonly longestMs: number
}

const oldestServer = 130_000

export function diagnosePostgres(parts: PostgresDiagnosingParts): Promise<readonly Finding[]> {
  return runChecks(parts, {
    server: checkServer,
    schema: checkSchema,
    tables: checkTables,
    indexes: checkIndexes,
    rights: checkRights,
    isolation: checkIsolation,
    timeouts: checkTimeouts,
    durability: checkDurability,
    clock: checkClock,
    connections: checkConnections,
    transactions: checkTransactions,
    vacuum: checkVacuum,
    notifications: checkNotifications,
  })
}

async function checkServer({ database }: PostgresDiagnosingParts): Promise<Judgement> {
  const [row] = await database.all<{ number: number; version: string }>(
    "SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS version",
  )
  const found = `PostgreSQL ${row?.version}`
  return (row?.number ?? 0) >= oldestServer ? well(found) : problem(found, 'Treadle needs PostgreSQL 13 or newer.')
}

async function checkTables({ database, place }: PostgresDiagnosingParts): Promise<Judgement> {
  // Queries the catalog itself: the information schema only shows what the user has privileges on.
  return judgeTables(
    await database.all<FoundColumn>(
      `SELECT relname AS table_name, attname AS column_name FROM pg_attribute
       JOIN pg_class ON pg_class.oid = attrelid JOIN pg_namespace ON pg_namespace.oid = relnamespace
       WHERE nspname = ? AND relkind = 'r' AND attnum > 0 AND NOT attisdropped`,
      [place],
    ),
  )
}

async function checkIndexes({ database, place }: PostgresDiagnosingParts): Promise<Judgement> {
  const names = new TableNames(`${place}.`)
  const rows = await database.all<{ name: string; sound: number }>(
    `SELECT relname AS name, (indisvalid AND indisready)::int AS sound FROM pg_index
     JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = ?`,
    [place],
  )
  const invalid = rows.filter(({ sound }) => sound === 0).map(({ name }) => `${place}.${name}`)
  if (invalid.length > 0) return problem(`invalid: ${invalid.join(', ')}`, `Run: REINDEX INDEX CONCURRENTLY ${invalid[0]};`)
  const made = indexes.map((index) => [index.name, names.in(`${createIndex(index)};`)] as const)
  const keys = tableNames.map((table) => {
    const { primary } = tables[table]
    return [`${table}_pkey`, names.in(`ALTER TABLE {${table}} ADD PRIMARY KEY (${primary.join(', ')});`)] as const
  })
  return judgeIndexes(new Map([...made, ...keys]), new Set(rows.map(({ name }) => name)))
}

async function checkRights({ database, place }: PostgresDiagnosingParts): Promise<Judgement> {
  const readOnly = await judgeReadOnly(database)
  if (readOnly !== null) return readOnly
  const rights = await rightsIn(database, place)
  const missing = rights === undefined ? null : missingRight(rights, place)
  if (missing !== null) return problem(`it may not ${missing.what}`, `An administrator can run: ${missing.grant}`)
  return well(rights?.has_tables === 1 ? 'it may read and write' : 'there are no tables yet, and it may create them')
}

/** Null if it accepts writes. */
async function judgeReadOnly(database: SqlDatabase): Promise<Judgement | null> {
  const [row] = await database.all<{ only_reads: string; is_standby: number; login: string; name: string }>(
    `SELECT current_setting('transaction_read_only') AS only_reads, pg_is_in_recovery()::int AS is_standby,
       quote_ident(current_user) AS login, quote_ident(current_database()) AS name`,
  )
  if (row === undefined || row.only_reads === 'off') return null
  if (row.is_standby === 1) return problem('the server is a standby, and read-only', 'Name the primary server in the URL.')
  const setting = 'default_transaction_read_only'
  return problem(`${setting} = on: it may only read`, `Run: ${settingFor(row.login, row.name, setting, 'off')}`)
}

/** Overrides the settings of the server, the database and the user. */
function settingFor(login: string, name: string, setting: string, value: string): string {
  return `ALTER ROLE ${login} IN DATABASE ${name} SET ${setting} = ${value};`
}

async function checkIsolation({ database }: PostgresDiagnosingParts): Promise<Judgement> {
  const [row] = await database.all<{ level: string }>("SELECT current_setting('default_transaction_isolation') AS level")
  const found = row?.level ?? ''
  const advice = 'Set default_transaction_isolation to "read committed" for this user: with others, concurrent statements fail.'
  return found === 'read committed' ? well(found) : warning(found, advice)
}

/** The listening connection is never silent for longer than this. */
const shortestSilenceMs = 60_000

/** What happens if a timeout is shorter than the queue needs, by its name. */
const limits: Readonly<Record<string, string>> = {
  idle_in_transaction_session_timeout: 'a handler that pauses for longer in ctx.transaction loses its transaction',
  idle_session_timeout: 'workers have to listen again and again',
  lock_timeout: 'calls that wait for each other fail',
  statement_timeout: 'statements of ctx.transaction, and all behind a pooler, are ended',
}

/** Checks the settings of the user and the server, not those that the queue sets on its own connections. */
async function checkTimeouts({ database, longestMs }: PostgresDiagnosingParts): Promise<Judgement> {
  const rows = await database.all<{ name: string; ms: number; login: string; place: string }>(
    `SELECT name, reset_val::bigint AS ms, quote_ident(current_user) AS login, quote_ident(current_database()) AS place
     FROM pg_settings WHERE name IN (?) ORDER BY name`,
    [Object.keys(limits)],
  )
  const needed = (name: string) => (name === 'idle_session_timeout' ? shortestSilenceMs : longestMs)
  const short = rows.filter(({ name, ms }) => ms > 0 && ms < needed(name))
  if (short.length === 0) return well('none that is shorter than the queue needs')
  const found = short.map(({ name, ms }) => `${name} = ${formatDuration(ms)}: ${limits[name]}`).join('; ')
  const settings = short.map(({ name, login, place }) => settingFor(login, place, name, `${needed(name)}`))
  return warning(found, `Run: ${settings.join(' ')}`)
}

const mustBeOn = ['fsync', 'full_page_writes']
const soundCommits = ['on', 'local', 'remote_write', 'remote_apply']

async function checkDurability({ database }: PostgresDiagnosingParts): Promise<Judgement> {
  const rows = await database.all<{ name: string; value: string }>(
    'SELECT name, setting AS value FROM pg_settings WHERE name IN (?) ORDER BY name',
    [[...mustBeOn, 'synchronous_commit']],
  )
  const settings = rows.map((row) => ({ ...row, sound: mustBeOn.includes(row.name) ? ['on'] : soundCommits }))
  return judgeSettings(settings, 'Turn it on: a power failure may lose acknowledged jobs, or damage the database.')
}

async function checkConnections({ database }: PostgresDiagnosingParts): Promise<Judgement> {
  const [row] = await database.all<{ used: number; most: number }>(
    `SELECT (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
       current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS most`,
  )
  return judgeConnections(row?.used ?? 0, row?.most ?? 0)
}

async function checkTransactions({ database }: PostgresDiagnosingParts): Promise<Judgement> {
  return judgeTransactions(
    await database.all<LongTransaction>(
      `SELECT floor(extract(epoch FROM clock_timestamp() - since) / 60)::int AS minutes, who FROM (
         SELECT xact_start AS since, concat_ws(' ', 'pid', pid, nullif(application_name, ''), state) AS who
         FROM pg_stat_activity WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid()
         UNION ALL SELECT prepared, 'prepared ' || gid FROM pg_prepared_xacts WHERE database = current_database()
       ) AS open ORDER BY since LIMIT 100`,
    ),
  )
}

/** More dead rows than this, in number and relative to live ones, are more than a working autovacuum leaves behind. */
const manyDead = 50_000
const deadShare = 0.5

interface VacuumRow {
  readonly name: string
  readonly dead: number
  readonly alive: number
  readonly vacuumed: string
}

async function checkVacuum({ database, place }: PostgresDiagnosingParts): Promise<Judgement> {
  const [setting] = await database.all<{ value: string }>("SELECT current_setting('autovacuum') AS value")
  if (setting?.value !== 'on') return problem('autovacuum is off', 'Turn it on: without it the tables only grow.')
  const rows = await database.all<VacuumRow>(
    `SELECT relname AS name, n_dead_tup AS dead, n_live_tup AS alive,
       coalesce(to_char(greatest(last_autovacuum, last_vacuum), 'YYYY-MM-DD HH24:MI'), 'never') AS vacuumed
     FROM pg_stat_user_tables WHERE schemaname = ? ORDER BY n_dead_tup DESC`,
    [place],
  )
  const told = ({ name, dead, vacuumed }: VacuumRow) => `${dead} dead rows in ${name}, last vacuum: ${vacuumed}`
  const [worst] = rows
  const bloated = rows.find(({ dead, alive }) => dead > manyDead && dead > alive * deadShare)
  if (bloated === undefined) return well(worst === undefined ? 'no tables' : told(worst))
  const advice = `Look for long transactions, then run: VACUUM (ANALYZE) ${place}.${bloated.name};`
  return warning(told(bloated), advice)
}

const fullQueue = 50

async function checkNotifications({ database }: PostgresDiagnosingParts): Promise<Judgement> {
  const [row] = await database.all<{ used: number }>('SELECT (pg_notification_queue_usage() * 100)::int AS used')
  const used = row?.used ?? 0
  const found = `${used} % of their queue is used`
  const advice =
    'A session that listens does not come to the end of its transaction. End it: when the queue is full, commits fail.'
  return used < fullQueue ? well(found) : problem(found, advice)
}
