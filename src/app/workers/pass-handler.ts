import { createHash, timingSafeEqual } from 'node:crypto'
import { messageOf, TreadleError } from '../../core/errors.ts'
import { refuseUnknownOptions } from '../../core/options.ts'
import { type Clock, systemClock } from '../../core/time/clock.ts'
import { type Duration, parseDuration } from '../../core/time/duration.ts'
import type { RunOptions } from '../../worker/options.ts'
import type { RunReport } from '../../worker/runs/report.ts'

/** Options of `jobs.handler`, which runs one pass per request. */
export interface PassHandlerOptions extends Pick<RunOptions, 'concurrency' | 'queues' | 'jobs' | 'scheduler'> {
  /** Token that requests must send as `Authorization: Bearer …`. `false` accepts every request that reaches the handler. */
  readonly token: string | false
  /** Maximum number of jobs to start. Default: 100. */
  readonly limit?: number
  /** Starts no jobs after this time, and waits for the running ones. Default: `'20s'`. */
  readonly time?: Duration
}

const optionNames = ['token', 'limit', 'time', 'concurrency', 'queues', 'jobs', 'scheduler']
const shortestToken = 16

/**
 * A fetch handler that answers each request with one pass over the queue: for platforms where nothing runs between requests, and
 * for cron endpoints.
 */
export function passHandler(
  run: (options: RunOptions) => Promise<RunReport>,
  options: PassHandlerOptions,
  clock: Clock = systemClock,
): (request: Request) => Promise<Response> {
  refuseUnknownOptions(options, optionNames, 'handler()')
  const { token, limit = 100, time = '20s', ...worker } = options
  refuseWeakToken(token)
  const timeMs = parseDuration(time, 'time')
  return async (request) => {
    if (token !== false && !isShown(token, request))
      return answer(401, { error: 'Unauthorized' }, { 'www-authenticate': 'Bearer' })
    if (request.method !== 'GET' && request.method !== 'POST')
      return answer(405, { error: 'Method not allowed' }, { allow: 'GET, POST' })
    const over = new AbortController()
    const timer = clock.timer(timeMs, () => over.abort(), { unref: true })
    try {
      return answer(200, await run({ ...worker, limit, signal: AbortSignal.any([over.signal, request.signal]) }))
    } catch (thrown) {
      const code = thrown instanceof TreadleError ? thrown.code : 'INTERNAL'
      return answer(500, { error: token === false ? 'The pass failed' : messageOf(thrown), code })
    } finally {
      timer.cancel()
    }
  }
}

function refuseWeakToken(token: unknown): void {
  if (token === false || (typeof token === 'string' && token.length >= shortestToken)) return
  const message = `handler() needs a token of at least ${shortestToken} characters, which requests send as "Authorization: Bearer …", or token: false if only trusted programs can reach it`
  throw new TreadleError('CONFIG_INVALID', message)
}

function isShown(token: string, request: Request): boolean {
  const [, shown = ''] = /^Bearer (.+)$/i.exec(request.headers.get('authorization') ?? '') ?? []
  return timingSafeEqual(digest(shown), digest(token))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function answer(status: number, body: object, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json(body, { status, headers: { 'cache-control': 'no-store', ...headers } })
}
