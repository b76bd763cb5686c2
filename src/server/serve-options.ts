import type { TlsOptions } from 'node:tls'
import { messageOf, TreadleError } from '../core/errors.ts'
import { unknownOptions } from '../core/options.ts'
import { shown as shownValue } from '../core/text/shown.ts'
import { type Duration, parseDuration } from '../core/time/duration.ts'
import type { CatchUpLimits } from '../scheduling/repeating/catch-up.ts'
import { type ServerToken, secretProblems, tokenProblems } from './access/server-token.ts'
import type { AppearanceOptions } from './dashboard/options.ts'
import { isLoopbackName } from './loopback.ts'

/** Options of `serve`: ports, tokens, TLS and the dashboard. */
export interface ServeOptions {
  /** The address to listen on; 127.0.0.1 by default. Any other address needs a token. */
  readonly host?: string
  /** Port of the TCP protocol, 8888 by default; 0 means any free port, null means none. */
  readonly port?: number | null
  /** Port of the HTTP API, 8080 by default; 0 means any free port, null means none. */
  readonly httpPort?: number | null
  /** The token that clients must send: it allows everything. */
  readonly token?: string
  /** A token for clients that only read. */
  readonly readToken?: string
  /** Further tokens, each with a role and optionally limited to some queues and jobs. */
  readonly tokens?: readonly ServerToken[]
  readonly tls?: Pick<TlsOptions, 'cert' | 'key' | 'ca' | 'passphrase' | 'requestCert' | 'rejectUnauthorized' | 'minVersion'>
  /** How long a client of the TCP protocol may take for a job that does not specify it; 1h by default. */
  readonly lease?: Duration
  /** Which missed times of a `SCHEDULED` repeat to catch up on; 100 of the last day by default. */
  readonly catchUp?: { readonly within?: Duration; readonly cap?: number }
  /** A job is dead after this many lost leases; 10 by default. */
  readonly maxRescues?: number
  /** The dashboard next to the HTTP API: false disables it, an object configures its appearance and what it hides. */
  readonly dashboard?: boolean | AppearanceOptions
}

export interface ServeConfig {
  readonly host: string
  readonly port: number | null
  readonly httpPort: number | null
  /** All tokens; empty if programs on this machine need none. */
  readonly tokens: readonly ServerToken[]
  readonly tls: ServeOptions['tls']
  readonly leaseMs: number
  readonly catchUp: CatchUpLimits
  readonly maxRescues: number
  /** Null if there is none. */
  readonly dashboard: AppearanceOptions | null
}

// A record, so that the compiler demands an entry for each new option.
const optionNames: Readonly<Record<keyof ServeOptions, true>> = {
  host: true,
  port: true,
  httpPort: true,
  token: true,
  readToken: true,
  tokens: true,
  tls: true,
  lease: true,
  catchUp: true,
  maxRescues: true,
  dashboard: true,
}

const dayMs = 86_400_000

/** Applies defaults and validates. Reports all problems at once. */
export function serveConfig(options: ServeOptions): ServeConfig {
  if (typeof options !== 'object' || options === null)
    throw new TreadleError('CONFIG_INVALID', `The server's options must be an object, got ${shownValue(options)}`)
  const problems: string[] = [...unknownOptions(options, Object.keys(optionNames))]
  const { host = '127.0.0.1', port = 8888, httpPort = 8080, token, readToken, tls, maxRescues = 10, catchUp = {} } = options
  const { tokens: given = [], dashboard: shown = true } = options
  const dashboard = shown === true ? {} : shown === false ? null : shown
  const duration = (value: Duration, what: string): number => {
    try {
      return parseDuration(value, what)
    } catch (thrown) {
      problems.push(messageOf(thrown))
      return 0
    }
  }
  const leaseMs = duration(options.lease ?? '1h', 'lease')
  const withinMs = duration(catchUp.within ?? dayMs, 'catchUp.within')
  const { cap = 100 } = catchUp
  if (typeof shown !== 'boolean' && (typeof shown !== 'object' || shown === null))
    problems.push('dashboard must be true, false or an object')
  if (typeof host !== 'string' || host === '') problems.push(`host must be an address or a name, got ${shownValue(host)}`)
  if (!isPort(port)) problems.push(`port must be a whole number from 0 to 65535, or null, got ${shownValue(port)}`)
  if (!isPort(httpPort)) problems.push(`httpPort must be a whole number from 0 to 65535, or null, got ${shownValue(httpPort)}`)
  if (port === null && httpPort === null) problems.push('port and httpPort are both null: there is nothing to listen on')
  if (leaseMs < 1_000 || leaseMs > 31 * dayMs) problems.push(`lease must be from 1s to 31d, got ${leaseMs} ms`)
  if (!isCount(cap, 1, 10_000)) problems.push(`catchUp.cap must be a whole number from 1 to 10000, got ${shownValue(cap)}`)
  if (!isCount(maxRescues, 0, 1_000))
    problems.push(`maxRescues must be a whole number from 0 to 1000, got ${shownValue(maxRescues)}`)
  for (const [name, value] of Object.entries({ token, readToken })) {
    if (value !== undefined) problems.push(...secretProblems(value).map((problem) => `${name} ${problem}`))
  }
  problems.push(...tokenProblems(given))
  const tokens = allTokens(token, readToken, Array.isArray(given) ? given : [])
  if (token === undefined && readToken !== undefined && tokens.length === 1)
    problems.push('a readToken needs a token for those who may do more')
  if (tokens.length === 0 && typeof host === 'string' && !isLoopbackName(host))
    problems.push(
      `a server on ${host} can be reached by others, so it needs a token: set TREADLE_TOKEN, or use treadle serve --token`,
    )
  if (problems.length > 0) throw new TreadleError('CONFIG_INVALID', `The server's options are invalid: ${problems.join('; ')}`)
  return Object.freeze({ host, port, httpPort, tokens, tls, leaseMs, catchUp: { withinMs, cap }, maxRescues, dashboard })
}

function allTokens(
  token: string | undefined,
  readToken: string | undefined,
  others: readonly ServerToken[],
): readonly ServerToken[] {
  return [
    ...(token === undefined ? [] : [{ role: 'admin', secret: token } as const]),
    ...(readToken === undefined ? [] : [{ role: 'read', secret: readToken } as const]),
    ...others,
  ]
}

function isPort(value: unknown): boolean {
  return value === null || isCount(value, 0, 65_535)
}

function isCount(value: unknown, least: number, most: number): boolean {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most
}
