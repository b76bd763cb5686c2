import { type Clock, systemClock } from '../../core/clock.ts'
import { TreadleError } from '../../core/errors.ts'
import { unknownOptions } from '../../core/options.ts'
import { checkedName } from '../sql/table-names.ts'
import { type ParsedUrl, switchOf, takeParameters } from '../sql/url-parameters.ts'
import type { PostgresPool } from './client.ts'

export interface PostgresOptions {
  /** A `postgres://` URL, unless a pool is given. Its parameters `schema` and `prepare` say the same as the options. */
  readonly url?: string
  /** A pool of `pg`. It is not closed with the queue. */
  readonly pool?: PostgresPool
  /** The schema that the tables are in; `treadle` by default. */
  readonly schema?: string
  /** False refuses a schema that is not up to date instead of migrating it. */
  readonly migrate?: boolean
  /** Whether the server may keep statements for a connection: true for connections of its own, false for those of a given pool. */
  readonly prepare?: boolean
  readonly clock?: Clock
}

/** Complete and checked. */
export interface PostgresConfig {
  /** For the driver: without what is only for the queue. Empty where a pool is given. */
  readonly url: string
  readonly pool: PostgresPool | null
  readonly schema: string
  readonly migrate: boolean
  readonly prepare: boolean
  readonly clock: Clock
}

// Written as a record, so that the compiler asks for an entry when an option is added.
const optionNames: Readonly<Record<keyof PostgresOptions, true>> = {
  url: true,
  pool: true,
  schema: true,
  migrate: true,
  prepare: true,
  clock: true,
}

const parameterNames = ['schema', 'prepare'] as const

/** What an option says goes before what the URL says. */
export function postgresConfig(options: PostgresOptions): PostgresConfig {
  const problems = [...unknownOptions(options, Object.keys(optionNames))]
  const { url, parameters } = parsedUrl(options, problems)
  const prepare = options.prepare ?? switchOf(parameters.prepare, 'prepare', problems) ?? options.pool === undefined
  if (problems.length > 0) throw new TreadleError('CONFIG_INVALID', `The postgres backend: ${problems.join('; ')}`)
  return {
    url,
    pool: options.pool ?? null,
    schema: checkedName(options.schema ?? parameters.schema ?? 'treadle', 'schema'),
    migrate: options.migrate ?? true,
    prepare,
    clock: options.clock ?? systemClock,
  }
}

function parsedUrl({ url, pool }: PostgresOptions, problems: string[]): ParsedUrl<(typeof parameterNames)[number]> {
  if ((url === undefined) === (pool === undefined)) problems.push('give either a url or a pool')
  const parsed = takeParameters(url ?? '', parameterNames)
  if (url !== undefined && parsed === undefined) problems.push('write its url as postgres://user:password@host:5432/database')
  return parsed ?? { url: '', parameters: {} }
}
