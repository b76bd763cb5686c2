import {
  type Check,
  type Finding,
  type Judgement,
  judgeConnections,
  judgeSettings,
  problem,
  runChecks,
  warning,
  well,
} from '../diagnosing.ts'
import {
  clockCheck,
  type DiagnosingParts,
  judgeMissing,
  judgeTransactions,
  type LongTransaction,
  schemaCheck,
  tableNames,
} from '../sql/diagnosing.ts'
import type { SqlDatabase } from '../sql/session.ts'
import { indexes } from '../sql/tables.ts'

export interface PostgresDiagnosingParts extends DiagnosingParts {
  /** The schema that the tables are in. */
  readonly place: string
}

const oldestServer = 130_000

export function diagnosePostgres(parts: PostgresDiagnosingParts): Promise<readonly Finding[]> {
  return runChecks([
    serverCheck(parts),
    schemaCheck(parts),
    tablesCheck(parts),
    indexesCheck(parts),
    rightsCheck(parts),
    isolationCheck(parts),
    durabilityCheck(parts),
    clockCheck(parts, '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'),
    connectionsCheck(parts),
    transactionsCheck(parts),
    vacuumCheck(parts),
    notificationsCheck(parts),
  ])
}

function serverCheck({ database }: PostgresDiagnosingParts): Check {
  return {
    name: 'server',
    async look() {
      const [row] = await database.all<{ number: number; version: string }>(
        "SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS version",
      )
      const found = `PostgreSQL ${row?.version}`
      return (row?.number ?? 0) >= oldestServer ? well(found) : problem(found, 'Treadle needs PostgreSQL 13 or newer.')
    },
  }
}

function tablesCheck({ database, place }: PostgresDiagnosingParts): Check {
  return {
    name: 'tables',
    async look() {
      const rows = await database.all<{ name: string }>('SELECT tablename AS name FROM pg_tables WHERE schemaname = ?', [place])
      return judgeMissing(tableNames, new Set(rows.map(({ name }) => name)), 'tables')
    },
  }
}

function indexesCheck({ database, place }: PostgresDiagnosingParts): Check {
  return {
    name: 'indexes',
    async look() {
      const rows = await database.all<{ name: string; sound: number }>(
        `SELECT relname AS name, (indisvalid AND indisready)::int AS sound FROM pg_index
         JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = ?`,
        [place],
      )
      const invalid = rows.filter(({ sound }) => sound === 0).map(({ name }) => `${place}.${name}`)
      if (invalid.length > 0) return problem(`invalid: ${invalid.join(', ')}`, `Run: REINDEX INDEX CONCURRENTLY ${invalid[0]};`)
      const expected = [...indexes.map(({ name }) => name), ...tableNames.map((name) => `${name}_pkey`)]
      return judgeMissing(expected, new Set(rows.map(({ name }) => name)), 'indexes')
    },
  }
}

function rightsCheck({ database, place }: PostgresDiagnosingParts): Check {
  return {
    name: 'rights',
    async look() {
      const readOnly = await judgeReadOnly(database)
      if (readOnly !== null) return readOnly
      const rows = await database.all<{ name: string; right: string; login: string }>(
        `SELECT relname AS name, wanted AS right, quote_ident(current_user) AS login
         FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
         CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS wanted
         WHERE nspname = ? AND relkind = 'r' AND NOT has_table_privilege(pg_class.oid, wanted)`,
        [place],
      )
      const [first] = rows
      if (first === undefined) return well('it may read and write')
      const advice = `Run: GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${place} TO ${first.login};`
      return problem(
        `it may not ${first.right} in ${first.name}${rows.length > 1 ? `, and ${rows.length - 1} more` : ''}`,
        advice,
      )
    },
  }
}

/** Null where it takes writes. */
async function judgeReadOnly(database: SqlDatabase): Promise<Judgement | null> {
  const [row] = await database.all<{ only_reads: string; is_standby: number; login: string; name: string }>(
    `SELECT current_setting('transaction_read_only') AS only_reads, pg_is_in_recovery()::int AS is_standby,
       quote_ident(current_user) AS login, quote_ident(current_database()) AS name`,
  )
  if (row === undefined || row.only_reads === 'off') return null
  if (row.is_standby === 1)
    return problem('the server is a standby, and only reads', 'Name the server that takes writes in the URL.')
  const setting = 'default_transaction_read_only'
  return problem(`${setting} = on: it may only read`, `Run: ${settingFor(row.login, row.name, setting, 'off')}`)
}

/** Goes before whatever the server, the database and the user say otherwise. */
function settingFor(login: string, name: string, setting: string, value: string): string {
  return `ALTER ROLE ${login} IN DATABASE ${name} SET ${setting} = ${value};`
}

function isolationCheck({ database }: PostgresDiagnosingParts): Check {
  return {
    name: 'isolation',
    async look() {
      const [row] = await database.all<{ level: string }>("SELECT current_setting('default_transaction_isolation') AS level")
      const found = row?.level ?? ''
      const advice = 'Set default_transaction_isolation to "read committed" for this user: others make statements fail that meet.'
      return found === 'read committed' ? well(found) : warning(found, advice)
    },
  }
}

const mustBeOn = ['fsync', 'full_page_writes']
const soundCommits = ['on', 'local', 'remote_write', 'remote_apply']

function durabilityCheck({ database }: PostgresDiagnosingParts): Check {
  return {
    name: 'durability',
    async look() {
      const rows = await database.all<{ name: string; value: string }>(
        'SELECT name, setting AS value FROM pg_settings WHERE name IN (?) ORDER BY name',
        [[...mustBeOn, 'synchronous_commit']],
      )
      const settings = rows.map((row) => ({ ...row, sound: mustBeOn.includes(row.name) ? ['on'] : soundCommits }))
      return judgeSettings(settings, 'Turn it on: a power cut may lose jobs that were acknowledged, or damage the database.')
    },
  }
}

function connectionsCheck({ database }: PostgresDiagnosingParts): Check {
  return {
    name: 'connections',
    async look() {
      const [row] = await database.all<{ used: number; most: number }>(
        `SELECT (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
           current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS most`,
      )
      return judgeConnections(row?.used ?? 0, row?.most ?? 0)
    },
  }
}

function transactionsCheck({ database }: PostgresDiagnosingParts): Check {
  return {
    name: 'transactions',
    async look() {
      return judgeTransactions(
        await database.all<LongTransaction>(
          `SELECT floor(extract(epoch FROM clock_timestamp() - since) / 60)::int AS minutes, who FROM (
             SELECT xact_start AS since, concat_ws(' ', 'pid', pid, nullif(application_name, ''), state) AS who
             FROM pg_stat_activity WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid()
             UNION ALL SELECT prepared, 'prepared ' || gid FROM pg_prepared_xacts WHERE database = current_database()
           ) AS open ORDER BY since LIMIT 100`,
        ),
      )
    },
  }
}

/** So many dead rows, and so many for each living one, are more than autovacuum leaves when it gets to work. */
const manyDead = 50_000
const deadShare = 0.5

interface VacuumRow {
  readonly name: string
  readonly dead: number
  readonly alive: number
  readonly vacuumed: string
}

function vacuumCheck({ database, place }: PostgresDiagnosingParts): Check {
  return {
    name: 'vacuum',
    async look() {
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
    },
  }
}

const fullQueue = 50

function notificationsCheck({ database }: PostgresDiagnosingParts): Check {
  return {
    name: 'notifications',
    async look() {
      const [row] = await database.all<{ used: number }>('SELECT (pg_notification_queue_usage() * 100)::int AS used')
      const used = row?.used ?? 0
      const found = `${used} % of their queue is used`
      const advice =
        'A session that listens does not come to the end of its transaction. End it: when the queue is full, commits fail.'
      return used < fullQueue ? well(found) : problem(found, advice)
    },
  }
}
