import { messageOf } from '../../../core/errors.ts'
import { shown } from '../../../core/text/shown.ts'
import { type Duration, parseDuration } from '../../../core/time/duration.ts'

export interface ConnectionLimits {
  /** Maximum number of open connections. */
  readonly connections: number
  /** How long a statement may take. */
  readonly queryTimeoutMs: number
}

const mostConnections = 100
/** How long to wait for a free connection before failing with an error that says so. */
const longestWaitMs = 10_000
const leastTimeoutMs = 100
const mostTimeoutMs = 86_400_000

/**
 * A program that stalls in a transaction (a stopped process, a blocked event loop) keeps its locks, and all others would wait for
 * them. After this time the server closes its connection, before others give up waiting for a connection of their own.
 */
export const longestIdleInTransactionMs = 5_000

export function waitForConnectionMs(queryTimeoutMs: number): number {
  return Math.min(queryTimeoutMs, longestWaitMs)
}

/** From options or from the parameters of a URL. */
export function connectionLimits(
  given: { readonly connections?: number | string; readonly queryTimeout?: Duration },
  problems: string[],
): ConnectionLimits {
  const connections = Number(given.connections ?? 5)
  if (!Number.isSafeInteger(connections) || connections < 1 || connections > mostConnections)
    problems.push(`connections must be a whole number from 1 to ${mostConnections}, got ${shown(given.connections)}`)
  return { connections, queryTimeoutMs: timeoutMs(given.queryTimeout ?? 30_000, problems) }
}

function timeoutMs(given: Duration, problems: string[]): number {
  try {
    const ms = parseDuration(given, 'queryTimeout')
    if (ms < leastTimeoutMs || ms > mostTimeoutMs) problems.push(`queryTimeout must be from 100ms to 1d, got ${ms} ms`)
    return ms
  } catch (thrown) {
    problems.push(messageOf(thrown))
    return 0
  }
}
