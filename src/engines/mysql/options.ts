import { TreadleError } from '../../core/errors.ts'
import { consoleLogger, type Logger } from '../../core/logger.ts'
import { unknownOptions } from '../../core/options.ts'
import { type Clock, systemClock } from '../../core/time/clock.ts'
import type { Duration } from '../../core/time/duration.ts'
import { urlOrPool } from '../servers/url-parameters.ts'
import { type ConnectionLimits, connectionLimits } from '../sql/connections/connection-limits.ts'
import { checkedName } from '../sql/rows/table-names.ts'
import type { MysqlPool } from './connections/client.ts'

/** Options of `openMysql`. */
export interface MysqlOptions {
  /**
   * A `mysql://` or `mariadb://` URL, unless a pool is given. Its parameters `prefix`, `connections` and `queryTimeout` have the
   * same meaning as the options.
   */
  readonly url?: string
  /** A `mysql2/promise` pool. Closing the queue does not close it. */
  readonly pool?: MysqlPool
  /** Prefix of the table names; `treadle_` by default. */
  readonly prefix?: string
  /** False rejects an outdated schema instead of migrating it. */
  readonly migrate?: boolean
  /** Maximum number of connections; 5 by default. Calls are batched, so a few are enough. */
  readonly connections?: number
  /** How long a statement may take before it and its connection are given up; 30 s by default. */
  readonly queryTimeout?: Duration
  readonly clock?: Clock
  /** Where errors and warnings are logged; the console by default. */
  readonly logger?: Logger
}

/** Complete and validated options. */
export interface MysqlConfig extends ConnectionLimits {
  /** The URL for the driver, without the queue's own parameters. Empty if a pool is given. */
  readonly url: string
  readonly pool: MysqlPool | null
  readonly prefix: string
  readonly migrate: boolean
  readonly clock: Clock
  readonly logger: Logger
}

// A record, so that the compiler requires an entry for each new option.
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

/** Options take precedence over the URL's parameters. */
export function mysqlConfig(options: MysqlOptions): MysqlConfig {
  const problems = [...unknownOptions(options, Object.keys(optionNames))]
  const { url, parameters } = urlOrPool(options, parameterNames, 'mysql://user:password@host:3306/database', problems)
  const limits = connectionLimits({ ...parameters, ...options }, problems)
  if (problems.length > 0) throw new TreadleError('CONFIG_INVALID', `The mysql backend: ${problems.join('; ')}`)
  return {
    url: url === '' ? '' : forDriver(url),
    pool: options.pool ?? null,
    prefix: checkedName(options.prefix ?? parameters.prefix ?? 'treadle_', 'prefix'),
    migrate: options.migrate ?? true,
    ...limits,
    clock: options.clock ?? systemClock,
    logger: options.logger ?? consoleLogger,
  }
}

/** `mysql2` expects an object for TLS; an empty one enables certificate verification. */
function forDriver(url: string): string {
  const parsed = new URL(url)
  if (parsed.searchParams.get('ssl') === 'true') parsed.searchParams.set('ssl', '{}')
  return parsed.href
}
