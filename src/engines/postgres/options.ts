import { TreadleError } from '../../core/errors.ts'
import { consoleLogger, type Logger } from '../../core/logger.ts'
import { unknownOptions } from '../../core/options.ts'
import { type Clock, systemClock } from '../../core/time/clock.ts'
import type { Duration } from '../../core/time/duration.ts'
import { type ParsedUrl, switchOf, takeParameters } from '../servers/url-parameters.ts'
import { type ConnectionLimits, connectionLimits } from '../sql/connections/connection-limits.ts'
import { checkedName } from '../sql/rows/table-names.ts'
import type { PostgresPool } from './connections/client.ts'

/** Options of `openPostgres`. */
export interface PostgresOptions {
  /**
   * A `postgres://` URL, unless a pool is given. Its parameters `schema`, `connections`, `queryTimeout`, `prepare`, `notify` and
   * `listenUrl` say the same as the options.
   */
  readonly url?: string
  /** A pool of `pg`. It is not closed with the queue. */
  readonly pool?: PostgresPool
  /** The schema that the tables are in; `treadle` by default. */
  readonly schema?: string
  /** False refuses a schema that is not up to date instead of migrating it. */
  readonly migrate?: boolean
  /** How many connections the queue opens at most, beside the one that listens; 5 by default. Calls are batched, so few are needed. */
  readonly connections?: number
  /** A statement that takes longer is given up with its connection; 30 s by default. */
  readonly queryTimeout?: Duration
  /**
   * Whether the server may keep prepared statements for a connection. By default it may, unless the connections are those of a given
   * pool or of a pooler.
   */
  readonly prepare?: boolean
  /** False has workers of other programs look for jobs now and then, in place of waking them with LISTEN and NOTIFY. */
  readonly notify?: boolean
  /** Where to listen, when `url` leads to a pooler that cannot. With a given pool, nobody listens unless this is given. */
  readonly listenUrl?: string
  readonly logger?: Logger
  readonly clock?: Clock
}

/** Complete and checked. */
export interface PostgresConfig extends ConnectionLimits {
  /** For the driver: without what is only for the queue. Empty where a pool is given. */
  readonly url: string
  readonly pool: PostgresPool | null
  readonly schema: string
  readonly migrate: boolean
  /** Null is as it turns out. */
  readonly prepare: boolean | null
  readonly notify: boolean
  /** Null where there is nowhere to listen. */
  readonly listenUrl: string | null
  readonly logger: Logger
  readonly clock: Clock
}

// Written as a record, so that the compiler asks for an entry when an option is added.
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

/** What an option says goes before what the URL says. */
export function postgresConfig(options: PostgresOptions): PostgresConfig {
  const problems = [...unknownOptions(options, Object.keys(optionNames))]
  const { url, parameters } = parsedUrl(options, problems)
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

function parsedUrl({ url, pool }: PostgresOptions, problems: string[]): ParsedUrl<(typeof parameterNames)[number]> {
  if ((url === undefined) === (pool === undefined)) problems.push('give either a url or a pool')
  const parsed = takeParameters(url ?? '', parameterNames, problems)
  if (url !== undefined && parsed === undefined) problems.push('write its url as postgres://user:password@host:5432/database')
  return parsed ?? { url: '', parameters: {} }
}
