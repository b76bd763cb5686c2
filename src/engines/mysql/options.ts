import { TreadleError } from '../../core/errors.ts'
import { consoleLogger, type Logger } from '../../core/logger.ts'
import { unknownOptions } from '../../core/options.ts'
import { type Clock, systemClock } from '../../core/time/clock.ts'
import type { Duration } from '../../core/time/duration.ts'
import { type ParsedUrl, takeParameters } from '../servers/url-parameters.ts'
import { type ConnectionLimits, connectionLimits } from '../sql/connections/connection-limits.ts'
import { checkedName } from '../sql/rows/table-names.ts'
import type { MysqlPool } from './connections/client.ts'

/** Options of `openMysql`. */
export interface MysqlOptions {
  /**
   * A `mysql://` or `mariadb://` URL, unless a pool is given. Its parameters `prefix`, `connections` and `queryTimeout` say the same
   * as the options.
   */
  readonly url?: string
  /** A pool of `mysql2/promise`. It is not closed with the queue. */
  readonly pool?: MysqlPool
  /** What the names of the tables begin with; `treadle_` by default. */
  readonly prefix?: string
  /** False refuses a schema that is not up to date instead of migrating it. */
  readonly migrate?: boolean
  /** How many connections the queue opens at most; 5 by default. Calls are batched, so few are needed. */
  readonly connections?: number
  /** A statement that takes longer is given up with its connection; 30 s by default. */
  readonly queryTimeout?: Duration
  readonly clock?: Clock
  /** Where errors and warnings are logged; the console by default. */
  readonly logger?: Logger
}

/** Complete and checked. */
export interface MysqlConfig extends ConnectionLimits {
  /** For the driver: without what is only for the queue. Empty where a pool is given. */
  readonly url: string
  readonly pool: MysqlPool | null
  readonly prefix: string
  readonly migrate: boolean
  readonly clock: Clock
  readonly logger: Logger
}

// Written as a record, so that the compiler asks for an entry when an option is added.
const optionNames: Readonly<Record<keyof MysqlOptions, true>> = {
  url: true,
  pool: true,
  prefix: true,
  migrate: true,
  connections: true,
  queryTimeout: true,
  clock: true,
  logger: true,
}

const parameterNames = ['prefix', 'connections', 'queryTimeout'] as const

/** What an option says goes before what the URL says. */
export function mysqlConfig(options: MysqlOptions): MysqlConfig {
  const problems = [...unknownOptions(options, Object.keys(optionNames))]
  const { url, parameters } = parsedUrl(options, problems)
  const limits = connectionLimits({ ...parameters, ...options }, problems)
  if (problems.length > 0) throw new TreadleError('CONFIG_INVALID', `The mysql backend: ${problems.join('; ')}`)
  return {
    url,
    pool: options.pool ?? null,
    prefix: checkedName(options.prefix ?? parameters.prefix ?? 'treadle_', 'prefix'),
    migrate: options.migrate ?? true,
    ...limits,
    clock: options.clock ?? systemClock,
    logger: options.logger ?? consoleLogger,
  }
}

function parsedUrl({ url, pool }: MysqlOptions, problems: string[]): ParsedUrl<(typeof parameterNames)[number]> {
  if ((url === undefined) === (pool === undefined)) problems.push('give either a url or a pool')
  const parsed = takeParameters(url ?? '', parameterNames, problems)
  if (url !== undefined && parsed === undefined) problems.push('write its url as mysql://user:password@host:3306/database')
  return parsed === undefined ? { url: '', parameters: {} } : { ...parsed, url: forDriver(parsed.url) }
}

/** For `mysql2` TLS is an object, and one that says nothing more has the server's certificate checked. */
function forDriver(url: string): string {
  const parsed = new URL(url)
  if (parsed.searchParams.get('ssl') === 'true') parsed.searchParams.set('ssl', '{}')
  return parsed.href
}
