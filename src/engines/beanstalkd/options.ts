import { messageOf, TreadleError } from '../../core/errors.ts'
import { consoleLogger, type Logger } from '../../core/logger.ts'
import { unknownOptions } from '../../core/options.ts'
import { shown } from '../../core/text/shown.ts'
import { type Clock, systemClock } from '../../core/time/clock.ts'
import { type Duration, parseDuration } from '../../core/time/duration.ts'
import type { Address } from './connection/session.ts'

/** Options of `openBeanstalkd`. */
export interface BeanstalkdOptions {
  /**
   * `beanstalkd://host:port/prefix`. The port is 11300 and the prefix `treadle` by default; the parameters `timeout` and `ttr`
   * have the same meaning as the options.
   */
  readonly url: string
  /** Prefix of all tube names; takes precedence over the one in the URL. */
  readonly prefix?: string
  /** How long the server may take to answer before its connection is dropped and reopened; 10 s by default. */
  readonly timeout?: Duration
  /**
   * The time to run of new jobs, which is the lease of a worker that does not ask for a longer one; 30 s by default, like a
   * worker's lease.
   */
  readonly ttr?: Duration
  readonly logger?: Logger
  readonly clock?: Clock
}

/** Complete and validated options. */
export interface BeanstalkdConfig {
  readonly address: Address
  readonly prefix: string
  readonly timeoutMs: number
  /** In seconds, the server's unit. */
  readonly ttr: number
  readonly logger: Logger
  readonly clock: Clock
}

// A record, so that the compiler requires an entry for each new option.
const optionNames: Readonly<Record<keyof BeanstalkdOptions, true>> = {
  url: true,
  prefix: true,
  timeout: true,
  ttr: true,
  logger: true,
  clock: true,
}

const example = 'beanstalkd://127.0.0.1:11300'
const defaultPort = 11_300
const defaultPrefix = 'treadle'
const soundPrefix = /^[A-Za-z0-9._/;+()][A-Za-z0-9._/;+()-]{0,63}$/
const parameterNames = ['timeout', 'ttr'] as const
const longestTtrMs = 86_400_000

/** Reports all problems at once. */
export function beanstalkdConfig(options: BeanstalkdOptions): BeanstalkdConfig {
  const problems: string[] = [...unknownOptions(options, Object.keys(optionNames))]
  const url = URL.canParse(options.url) ? new URL(options.url) : undefined
  if (url?.protocol !== 'beanstalkd:' || url.hostname === '') problems.push(`url must be like ${example}`)
  const parameters = parametersOf(url, problems)
  const prefix = options.prefix ?? (decodeURIComponent(url?.pathname ?? '').replace(/^\//, '') || defaultPrefix)
  if (!soundPrefix.test(prefix)) {
    problems.push(`prefix must be 1 to 64 letters, digits or any of - . _ / ; + ( ), got ${shown(prefix)}`)
  }
  const timeoutMs = durationOf('timeout', options.timeout ?? parameters.timeout ?? '10s', problems)
  const ttrMs = durationOf('ttr', options.ttr ?? parameters.ttr ?? '30s', problems)
  if (timeoutMs < 100) problems.push(`timeout must be at least 100ms, got ${timeoutMs} ms`)
  if (ttrMs < 1_000 || ttrMs > longestTtrMs) problems.push(`ttr must be from 1s to 1d, got ${ttrMs} ms`)
  if (url?.username || url?.password) problems.push('Beanstalkd has no users and passwords: remove them from the url')
  if (problems.length > 0) {
    throw new TreadleError('CONFIG_INVALID', `The options of the beanstalkd backend are invalid: ${problems.join('; ')}`)
  }
  const { clock = systemClock, logger = consoleLogger } = options
  // Sockets expect an IPv6 address without its brackets.
  const host = (url?.hostname ?? '').replace(/^\[(.*)\]$/, '$1')
  const address = { host, port: Number(url?.port || defaultPort) }
  return Object.freeze({ address, prefix, timeoutMs, ttr: Math.ceil(ttrMs / 1_000), logger, clock })
}

function parametersOf(url: URL | undefined, problems: string[]): Partial<Record<(typeof parameterNames)[number], string>> {
  const given = Object.fromEntries(url?.searchParams ?? [])
  problems.push(...unknownOptions(given, parameterNames).map((problem) => `url: ${problem}`))
  return given
}

function durationOf(name: string, value: Duration, problems: string[]): number {
  try {
    return parseDuration(value, name)
  } catch (thrown) {
    problems.push(messageOf(thrown))
    return longestTtrMs
  }
}
