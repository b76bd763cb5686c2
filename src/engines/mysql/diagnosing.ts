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
import { indexes } from '../sql/rows/tables.ts'
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
import { isDemoted, writableAdvice } from './connections/failure.ts'
import { crowdIndex, listedIndex, placeIndex } from './schema/places.ts'

export interface MysqlDiagnosingParts extends DiagnosingParts {
  /** Prefix of the table names. */
  readonly prefix: string
}

export function diagnoseMysql(parts: MysqlDiagnosingParts): Promise<readonly Finding[]> {
  return runChecks(parts, {
    server: checkServer,
    schema: checkSchema,
    tables: checkTables,
    indexes: checkIndexes,
    rights: checkRights,
    isolation: checkIsolation,
    durability: checkDurability,
    clock: checkClock,
    connections: checkConnections,
    transactions: checkTransactions,
    purge: checkHistory,
    packet: checkPacket,
  })
}

/** Servers that are too old are rejected when connecting. */
async function checkServer({ database }: MysqlDiagnosingParts): Promise<Judgement> {
  const [row] = await database.all<{ version: string }>('SELECT VERSION() AS version')
  return well(`${/mariadb/i.test(row?.version ?? '') ? 'MariaDB' : 'MySQL'} ${row?.version}`)
}

async function checkTables({ database, prefix }: MysqlDiagnosingParts): Promise<Judgement> {
  const rows = await database.all<{ name: string; engine: string }>(
    'SELECT table_name AS name, engine AS engine FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name IN (?)',
    [tableNames.map((name) => prefix + name)],
  )
  const other = rows.find(({ engine }) => engine.toLowerCase() !== 'innodb')
  if (other !== undefined) {
    return problem(`${other.name} is of ${other.engine}`, `Run: ALTER TABLE ${other.name} ENGINE = InnoDB;`)
  }
  const columns = await database.all<FoundColumn>(
    `SELECT SUBSTRING(table_name, ?) AS table_name, column_name AS column_name FROM information_schema.columns
     WHERE table_schema = DATABASE() AND table_name IN (?)`,
    [prefix.length + 1, tableNames.map((name) => prefix + name)],
  )
  return judgeTables(columns)
}

async function checkIndexes({ database, prefix }: MysqlDiagnosingParts): Promise<Judgement> {
  const rows = await database.all<{ table: string; name: string }>(
    `SELECT DISTINCT table_name AS \`table\`, index_name AS name FROM information_schema.statistics
     WHERE table_schema = DATABASE() AND table_name IN (?)`,
    [tableNames.map((name) => prefix + name)],
  )
  const own = indexes
    .filter(({ isOfStates }) => isOfStates !== true)
    .map(({ table, name, columns, unique }) => {
      const kind = unique === true ? 'UNIQUE INDEX' : 'INDEX'
      return [`${table}.${name}`, `CREATE ${kind} ${name} ON ${prefix}${table} (${columns.join(', ')});`] as const
    })
  const whole = [
    `jobs.${placeIndex}`,
    `jobs.${crowdIndex}`,
    `jobs.${listedIndex}`,
    ...tableNames.map((name) => `${name}.PRIMARY`),
  ].map((name) => [name, null] as const)
  const found = new Set(rows.map(({ table, name }) => `${table.slice(prefix.length)}.${name}`))
  return judgeIndexes(new Map([...own, ...whole]), found)
}

/** The server checks privileges even for statements that match no rows. */
const harmless = [
  'SELECT name FROM {locks} WHERE 1 = 0',
  'INSERT INTO {locks} SELECT * FROM {locks} WHERE 1 = 0',
  'UPDATE {locks} SET pid = 0 WHERE 1 = 0',
  'DELETE FROM {locks} WHERE 1 = 0',
]

async function checkRights({ database, schema }: MysqlDiagnosingParts): Promise<Judgement> {
  if ((await schema.state()).version === 0) return well('there are no tables yet')
  try {
    for (const statement of harmless) await database.run(statement)
  } catch (thrown) {
    if (isDemoted(thrown)) return problem('the server is read-only', writableAdvice)
    throw thrown
  }
  return well('it may read and write')
}

async function checkIsolation({ database }: MysqlDiagnosingParts): Promise<Judgement> {
  // Servers use one name or the other.
  const [row] = await database.all<Variable>(
    "SHOW SESSION VARIABLES WHERE Variable_name IN ('transaction_isolation', 'tx_isolation')",
  )
  const found = row?.Value ?? ''
  const advice = 'The queue sets READ COMMITTED itself, for its own connections and for each transaction on a given pool.'
  return found === 'READ-COMMITTED' ? well(found) : warning(found, advice)
}

interface Variable {
  readonly Variable_name: string
  readonly Value: string
}

async function checkDurability({ database }: MysqlDiagnosingParts): Promise<Judgement> {
  const rows = await database.all<Variable>(
    "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('innodb_flush_log_at_trx_commit', 'innodb_doublewrite', 'log_bin', 'sync_binlog')",
  )
  const values = new Map(rows.map(({ Variable_name, Value }) => [Variable_name, Value]))
  const hasLog = values.get('log_bin')?.toUpperCase() === 'ON'
  const settings = [
    { name: 'innodb_flush_log_at_trx_commit', sound: ['1'] },
    { name: 'innodb_doublewrite', sound: ['on', 'detect_and_recover'] },
    ...(hasLog ? [{ name: 'sync_binlog', sound: ['1'] }] : []),
  ].map((setting) => ({ ...setting, value: values.get(setting.name) ?? 'unknown' }))
  return judgeSettings(settings, 'A power failure may lose acknowledged jobs: set it to 1, or to ON.')
}

async function checkConnections({ database }: MysqlDiagnosingParts): Promise<Judgement> {
  const [used] = await database.all<Variable>("SHOW GLOBAL STATUS WHERE Variable_name = 'Threads_connected'")
  const [most] = await database.all<Variable>("SHOW GLOBAL VARIABLES WHERE Variable_name = 'max_connections'")
  return judgeConnections(Number(used?.Value), Number(most?.Value))
}

async function checkTransactions({ database }: MysqlDiagnosingParts): Promise<Judgement> {
  return judgeTransactions(
    await database.all<LongTransaction>(
      `SELECT TIMESTAMPDIFF(MINUTE, trx_started, NOW()) AS minutes, CONCAT('connection ', trx_mysql_thread_id) AS who
       FROM information_schema.innodb_trx WHERE trx_mysql_thread_id <> CONNECTION_ID() ORDER BY trx_started LIMIT 100`,
    ),
  )
}

const longHistory = 1_000_000

async function checkHistory({ database }: MysqlDiagnosingParts): Promise<Judgement> {
  const [row] = await database.all<{ length: number }>(
    "SELECT `count` AS length FROM information_schema.innodb_metrics WHERE name = 'trx_rseg_history_len'",
  )
  const found = `${row?.length ?? 0} changes wait for the purge`
  const advice = 'Look for long transactions: until they end, the rows that others have replaced or deleted stay.'
  return (row?.length ?? 0) < longHistory ? well(found) : warning(found, advice)
}

const smallPacket = 4 * 1024 * 1024

async function checkPacket({ database }: MysqlDiagnosingParts): Promise<Judgement> {
  const [row] = await database.all<{ bytes: number }>('SELECT @@max_allowed_packet AS bytes')
  const found = `max_allowed_packet = ${row?.bytes}`
  const advice = 'Set it to 16 MB or more: large payloads, and batches of many jobs, would be refused.'
  return (row?.bytes ?? 0) >= smallPacket ? well(found) : warning(found, advice)
}
