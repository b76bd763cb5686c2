import type { ServerOptions } from 'node:http'
import { TreadleError } from '../../core/errors.ts'
import { unknownOptions } from '../../core/options.ts'
import { shown } from '../../core/text/shown.ts'

/** Limits for the requests of clients. */
export interface HttpLimits {
  /** Maximum size of a body; 1 MiB by default. */
  readonly maxBodyBytes: number
  /** Maximum number of jobs that one request may create; 1,000 by default. */
  readonly maxBulk: number
  /** Maximum nesting depth of lists and objects; 100 by default. */
  readonly maxDepth: number
  /** How long a request may wait for work; a minute by default. */
  readonly longestWaitMs: number
  /** Maximum number of requests that may wait for work at once; 1,000 by default. */
  readonly maxWaiting: number
  /** Maximum number of open event streams; 200 by default. */
  readonly maxEventStreams: number
  /** Maximum number of requests that a client may send ahead on one connection; 100 by default. */
  readonly maxAhead: number
  /** How long the headers of a request may take to arrive; 10 s by default. */
  readonly headersTimeoutMs: number
  /** How long a whole request may take to arrive; 30 s by default. */
  readonly requestTimeoutMs: number
  /** How long a client may leave its reply unread, in addition to the time that it may wait for work; 30 s by default. */
  readonly stalledMs: number
  /** Maximum total size of replies that clients have not read; 128 MiB by default. */
  readonly maxUnreadBytes: number
  /** Maximum number of open connections; 10,000 by default. */
  readonly maxConnections: number
  /** Maximum size of the headers; 16 KiB by default. */
  readonly maxHeaderBytes: number
}

const defaults: HttpLimits = {
  maxBodyBytes: 1024 * 1024,
  maxBulk: 1_000,
  maxDepth: 100,
  longestWaitMs: 60_000,
  maxWaiting: 1_000,
  maxEventStreams: 200,
  maxAhead: 100,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  stalledMs: 30_000,
  maxUnreadBytes: 128 * 1024 * 1024,
  maxConnections: 10_000,
  maxHeaderBytes: 16 * 1024,
}

export function httpLimits(given: Partial<HttpLimits> = {}): HttpLimits {
  const problems = [
    ...unknownOptions(given, Object.keys(defaults)),
    ...Object.entries(given)
      .filter(([, value]) => !Number.isSafeInteger(value) || value < 1)
      .map(([name, value]) => `${name} must be a whole number of at least 1, got ${shown(value)}`),
  ]
  if (problems.length > 0) throw new TreadleError('CONFIG_INVALID', `The limits of the HTTP API: ${problems.join('; ')}`)
  return Object.freeze({ ...defaults, ...given })
}

/** The limits that Node's server enforces itself. */
export function nodeServerOptions(limits: HttpLimits): ServerOptions {
  const { headersTimeoutMs, requestTimeoutMs, maxHeaderBytes } = limits
  return {
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
    requestTimeout: requestTimeoutMs,
    // How often Node checks for requests that took too long.
    connectionsCheckingInterval: Math.min(1_000, headersTimeoutMs, requestTimeoutMs),
    // The API refuses such requests itself, because Node says nothing about the reason.
    requireHostHeader: false,
  }
}
