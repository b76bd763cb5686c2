import { messageOf, TreadleError } from '../../core/errors.ts'
import { consoleLogger, type Logger } from '../../core/logger.ts'
import { nearest, unknownOptions } from '../../core/options.ts'
import { type Clock, systemClock } from '../../core/time/clock.ts'
import { type Duration, parseDuration } from '../../core/time/duration.ts'
import { switchOf, takeParameters } from '../servers/url-parameters.ts'
import type { RedisClient } from './connections/client.ts'

/** How `openRedis` reaches the server, and what it may do there. */
export interface RedisOptions {
  /**
   * `redis://`, `rediss://` (TLS) or `valkey://user:password@host:6379/0`, unless a client is given. Its parameters `prefix`,
   * `cluster`, `sentinel`, `timeout` and `allowEviction` have the same meaning as the options.
   */
  readonly url?: string
  /** An `ioredis` client for a server or a cluster. Closing the queue does not close it. */
  readonly client?: RedisClient
  /** Prefix of all keys, written in braces so that all keys of a queue are in one slot of a cluster. `treadle` by default. */
  readonly prefix?: string
  /** Whether the URL names a node of a Redis Cluster. */
  readonly cluster?: boolean
  /** The name of the primary to ask for, if the URL names a Sentinel. */
  readonly sentinel?: string
  /** How long a call may take before it fails; 10 s by default. */
  readonly timeout?: Duration
  /** Also accepts a server that may evict jobs when its memory is full. */
  readonly allowEviction?: boolean
  /** False makes all calls go through the rules instead of the scripts that speed up plain ones. For tests. */
  readonly fastPaths?: boolean
  readonly logger?: Logger
  readonly clock?: Clock
}

/** Complete and validated options. */
export interface RedisConfig {
  /** The URL for the driver, without the queue's own parameters. Empty if a client is given. */
  readonly url: string
  /** The number of the database on the server. */
  readonly database: number
  readonly client: RedisClient | null
  readonly prefix: string
  readonly cluster: boolean
  readonly sentinel: string | null
  readonly timeoutMs: number
  readonly allowEviction: boolean
  readonly fastPaths: boolean
  readonly logger: Logger
  readonly clock: Clock
}

// A record, so that the compiler requires an entry for each new option.
const optionNames: Readonly<Record<keyof RedisOptions, true>> = {
  url: true,
  client: true,
  prefix: true,
  cluster: true,
  sentinel: true,
  timeout: true,
  allowEviction: true,
  fastPaths: true,
  logger: true,
  clock: true,
}

const parameterNames = ['prefix', 'cluster', 'sentinel', 'timeout', 'allowEviction'] as const
const schemes: Readonly<Record<string, string>> = {
  'redis:': 'redis:',
  'rediss:': 'rediss:',
  'valkey:': 'redis:',
  'valkeys:': 'rediss:',
}
const soundPrefix = /^[A-Za-z0-9._-]{1,64}$/
const shortestTimeoutMs = 100

/** Options take precedence over the URL's parameters. Reports all problems at once. */
export function redisConfig(options: RedisOptions): RedisConfig {
  const problems = [...unknownOptions(options, Object.keys(optionNames))]
  const { url, parameters } = parsedUrl(options, problems)
  const prefix = options.prefix ?? parameters.prefix ?? 'treadle'
  if (!soundPrefix.test(prefix)) {
    problems.push(`prefix must be 1 to 64 letters, digits or any of . _ -, got ${JSON.stringify(prefix)}`)
  }
  const timeoutMs = durationOf(options.timeout ?? parameters.timeout ?? '10s', problems)
  const cluster = options.cluster ?? switchOf(parameters.cluster, 'cluster', problems) ?? false
  const allowEviction = options.allowEviction ?? switchOf(parameters.allowEviction, 'allowEviction', problems) ?? false
  const sentinel = options.sentinel ?? parameters.sentinel ?? null
  const database = databaseOf(url, cluster, problems)
  if (options.client !== undefined && !isClient(options.client)) {
    problems.push('client must be a client of the package "ioredis": a Redis or a Cluster')
  }
  if (options.client !== undefined && mapsReplies(options.client)) {
    problems.push('client must have its replyMapping left as it is: it changes the form of answers')
  }
  if (cluster && sentinel !== null) problems.push('a cluster has no Sentinel: give either cluster or sentinel')
  if (problems.length > 0) throw new TreadleError('CONFIG_INVALID', `The redis backend: ${problems.join('; ')}`)
  const { client = null, fastPaths = true, logger = consoleLogger, clock = systemClock } = options
  return { url, database, client, prefix, cluster, sentinel, timeoutMs, allowEviction, fastPaths, logger, clock }
}

function isClient(client: object | null): boolean {
  const parts = Object(client) as Readonly<Record<string, unknown>>
  return ['call', 'pipeline', 'duplicate', 'connect', 'on', 'off', 'disconnect'].every(
    (name) => typeof parts[name] === 'function',
  )
}

interface GivenOptions {
  readonly replyMapping?: unknown
  readonly redisOptions?: GivenOptions
}

function mapsReplies(client: object | null): boolean {
  const { options } = Object(client) as { readonly options?: GivenOptions }
  return options?.replyMapping === 'resp3' || options?.redisOptions?.replyMapping === 'resp3'
}

const urlAdvice = 'write its url as redis://user:password@host:6379'

function parsedUrl({ url, client }: RedisOptions, problems: string[]) {
  if ((url === undefined) === (client === undefined)) problems.push('give either a url or a client')
  const parsed = takeParameters(url ?? '', parameterNames, problems)
  // No driver gets the rest.
  refuseOthers(parsed?.url, problems)
  const scheme = parsed === undefined ? undefined : schemes[new URL(parsed.url).protocol]
  if (url !== undefined && scheme === undefined) problems.push(urlAdvice)
  if (parsed === undefined || scheme === undefined) return { url: '', parameters: parsed?.parameters ?? {} }
  return { url: scheme + parsed.url.slice(parsed.url.indexOf(':') + 1), parameters: parsed.parameters }
}

function refuseOthers(url: string | undefined, problems: string[]): void {
  for (const name of new Set(new URL(url ?? 'redis:').searchParams.keys())) {
    if (nearest(name, parameterNames) !== undefined) continue
    const advice =
      name === 'db' ? 'write the number of the database as its path, such as /2' : `known: ${parameterNames.join(', ')}`
    problems.push(`unknown parameter "${name}" in its url; ${advice}`)
  }
}

function databaseOf(url: string, cluster: boolean, problems: string[]): number {
  const path = url === '' ? '' : new URL(url).pathname.replace(/^\//, '')
  const database = /^\d{0,6}$/.test(path) ? Number(path) : Number.NaN
  if (path.includes('@')) {
    // Without both slashes, the user and the password became a part of the path: they must not be shown.
    problems.push(urlAdvice)
  } else if (Number.isNaN(database)) {
    problems.push(`the path of its url is the number of a database, such as /2, got ${JSON.stringify(`/${path}`)}`)
  }
  if (cluster && database !== 0) problems.push('a cluster has only the database 0: leave the path of its url out')
  return database
}

function durationOf(value: Duration, problems: string[]): number {
  try {
    const ms = parseDuration(value, 'timeout')
    if (ms < shortestTimeoutMs) problems.push(`timeout must be at least ${shortestTimeoutMs}ms, got ${ms} ms`)
    return ms
  } catch (thrown) {
    problems.push(messageOf(thrown))
    return shortestTimeoutMs
  }
}
