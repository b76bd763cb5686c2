import { TreadleError } from '../../core/errors.ts'
import { consoleLogger, type Logger } from '../../core/logger.ts'
import { unknownOptions } from '../../core/options.ts'
import { type Clock, systemClock } from '../../core/time/clock.ts'
import type { Duration } from '../../core/time/duration.ts'
import { switchOf, urlOrPool } from '../servers/url-parameters.ts'
import { type ConnectionLimits, connectionLimits } from '../sql/connections/connection-limits.ts'
import { checkedName } from '../sql/rows/table-names.ts'
import type { PostgresPool } from './connections/client.ts'

/** Options of `openPostgres`. */
export interface PostgresOptions {
  /**
   * A `postgres://` URL, unless a pool is given. Its parameters `schema`, `connections`, `queryTimeout`, `prepare`, `notify` and
   * `listenUrl` have the same meaning as the options.
   */
  readonly url?: string
  /** A `pg` pool. Closing the queue does not close it. */
  readonly pool?: PostgresPool
  /** The schema that holds the tables; `treadle` by default. */
  readonly schema?: string
  /** False rejects an outdated schema instead of migrating it. */
  readonly migrate?: boolean
  /** Maximum number of connections, in addition to the one that listens; 5 by default. Calls are batched, so a few are enough. */
  readonly connections?: number
  /** How long a statement may take before it and its connection are given up; 30 s by default. */
  readonly queryTimeout?: Duration
  /** Whether to use prepared statements. On by default, except with a given pool or behind a pooler. */
  readonly prepare?: boolean
  /** False makes workers of other programs poll instead of waking them with LISTEN and NOTIFY. */
  readonly notify?: boolean
  /**
   * Where to listen if `url` points to a pooler that does not support it. With a given pool, nothing listens unless this is set.
   */
  readonly listenUrl?: string
  readonly logger?: Logger
  readonly clock?: Clock
}

/** Complete and validated options. */
export interface PostgresConfig extends ConnectionLimits {
  /** The URL for the driver, without the queue's own parameters. Empty if a pool is given. */
  readonly url: string
  readonly pool: PostgresPool | null
  readonly schema: string
  readonly migrate: boolean
  /** Null to decide once it is known whether there is a pooler. */
  readonly prepare: boolean | null
  readonly notify: boolean
  /** Null if there is nowhere to listen. */
  readonly listenUrl: string | null
  readonly logger: Logger
  readonly clock: Clock
}

// A record, so that the compiler requires an entry for each new option.
const optionNames: Readonly<Record<keyof PostgresOptions, true>> = {
  url: true,
  pool: true,
  schema: true,
  migrate: true,
  connections: true,
  queryTimeout: true,
  prepare: true,
  notify: true,
  listenUrl: true,
  logger: true,
  clock: true,
}

const parameterNames = ['schema', 'connections', 'queryTimeout', 'prepare', 'notify', 'listenUrl'] as const

/** Options take precedence over the URL's parameters. */
export function postgresConfig(options: PostgresOptions): PostgresConfig {
  const problems = [...unknownOptions(options, Object.keys(optionNames))]
  const { url, parameters } = urlOrPool(options, parameterNames, 'postgres://user:password@host:5432/database', problems)
  const { pool = null, clock = systemClock, logger = consoleLogger, migrate = true } = options
  const limits = connectionLimits({ ...parameters, ...options }, problems)
  const prepare = options.prepare ?? switchOf(parameters.prepare, 'prepare', problems)
  const notify = options.notify ?? switchOf(parameters.notify, 'notify', problems) ?? true
  const listenUrl = options.listenUrl ?? parameters.listenUrl ?? (pool === null ? url : null)
  if (problems.length > 0) throw new TreadleError('CONFIG_INVALID', `The postgres backend: ${problems.join('; ')}`)
  const schema = checkedName(options.schema ?? parameters.schema ?? 'treadle', 'schema')
  const talking = { prepare: prepare ?? (pool === null ? null : false), notify, listenUrl }
  return { url, pool, schema, migrate, ...limits, ...talking, logger, clock }
}
