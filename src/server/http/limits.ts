import type { ServerOptions } from 'node:http'
import { TreadleError } from '../../core/errors.ts'
import { unknownOptions } from '../../core/options.ts'

/** What is accepted of clients. */
export interface HttpLimits {
  /** 1 MiB by default. */
  readonly maxBodyBytes: number
  /** How many jobs one request may make; 1,000 by default. */
  readonly maxBulk: number
  /** How deep lists and objects may lie in each other; 100 by default. */
  readonly maxDepth: number
  /** The longest that a request for work may wait; a minute by default. */
  readonly longestWaitMs: number
  /** How many requests may wait for work at once; 1,000 by default. */
  readonly maxWaiting: number
  /** How many may follow the events at once; 200 by default. */
  readonly maxEventStreams: number
  /** How long the headers of a request may take to arrive; 10 s by default. */
  readonly headersTimeoutMs: number
  /** How long all of a request may take to arrive; 30 s by default. */
  readonly requestTimeoutMs: number
  /** How long a client may leave its answer unread, beside the time that it may wait for work; 30 s by default. */
  readonly stalledMs: number
  /** Answers that clients do not read, together; 128 MiB by default. */
  readonly maxUnreadBytes: number
  /** How many may be connected at once; 10,000 by default. */
  readonly maxConnections: number
  /** 16 KiB by default. */
  readonly maxHeaderBytes: number
}

const defaults: HttpLimits = {
  maxBodyBytes: 1024 * 1024,
  maxBulk: 1_000,
  maxDepth: 100,
  longestWaitMs: 60_000,
  maxWaiting: 1_000,
  maxEventStreams: 200,
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
      .map(([name, value]) => `${name} must be a whole number of at least 1, got ${String(value)}`),
  ]
  if (problems.length > 0) throw new TreadleError('CONFIG_INVALID', `The limits of the HTTP API: ${problems.join('; ')}`)
  return Object.freeze({ ...defaults, ...given })
}

/** The same limits, as far as Node's server keeps them itself. */
export function nodeServerOptions(limits: HttpLimits): ServerOptions {
  const { headersTimeoutMs, requestTimeoutMs, maxHeaderBytes } = limits
  return {
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
    requestTimeout: requestTimeoutMs,
    // How often Node looks for requests that took too long.
    connectionsCheckingInterval: Math.min(1_000, headersTimeoutMs, requestTimeoutMs),
    requireHostHeader: true,
  }
}
