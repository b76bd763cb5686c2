import type { Agent } from 'undici'
import { messageOf, TreadleError } from '../core/errors.ts'
import type { JobContext } from '../definition/context.ts'
import type { HandlerFunction } from '../definition/handler.ts'
import { permanent } from './permanent.ts'
import { publicAgent } from './public-agent.ts'
import { addressMaker, type UrlOptions, type UrlSettings, type UrlTarget, urlSettings } from './url-options.ts'

export type { UrlMethod, UrlOptions, UrlTarget } from './url-options.ts'

/** A successful response. */
export interface UrlResult {
  readonly status: number
  /** Parsed JSON if the response has a JSON content type, otherwise the text. */
  readonly body: unknown
}

/** The request could not be sent or did not succeed. The message names only the host, because the rest of a URL may be secret. */
export class RequestError extends TreadleError {
  /** Null if there was no response. */
  readonly status: number | null

  constructor(message: string, status: number | null, options?: ErrorOptions) {
    super('REQUEST_FAILED', message, options)
    this.name = 'RequestError'
    this.status = status
  }
}

/**
 * Sends an HTTP request: `url('https://example.com/hook')`, or
 * `url(({ id }) => \`https://example.com/orders/${id}\`, { method: 'GET' })`.
 *
 * Only public addresses can be reached, unless `allowHosts` lists the host and port. Certificates are always verified and
 * redirects are never followed. Network errors and the statuses 408, 425, 429 and 5xx fail the attempt. Other statuses and
 * refused addresses fail the job without a retry. A server that sends nothing for five minutes counts as failed.
 */
export function url<Payload = unknown>(
  target: UrlTarget<Payload>,
  options: UrlOptions<Payload> = {},
): HandlerFunction<Payload, UrlResult> {
  const settings = urlSettings(options)
  const addressOf = addressMaker(target, settings.allowed)
  let agent: Promise<Agent> | undefined
  return async (payload, context) => {
    try {
      const address = addressOf(payload)
      const body = settings.bodyOf(payload)
      agent ??= publicAgent(settings.allowed)
      return await exchange({ address, body, ...settings }, await agent, context)
    } catch (thrown) {
      throw isRefusal(thrown) ? permanent(thrown) : thrown
    }
  }
}

interface Request extends Pick<UrlSettings<never>, 'method' | 'headers' | 'maxResponse'> {
  readonly address: URL
  readonly body: string | Uint8Array | null
}

interface Answer {
  readonly status: number
  readonly contentType: string
  readonly text: string
  /** Whether the response was longer than `maxResponse`. */
  readonly cut: boolean
}

async function exchange(
  request: Request,
  agent: Agent,
  { signal, logger }: Pick<JobContext, 'signal' | 'logger'>,
): Promise<UrlResult> {
  const what = `${request.method} ${request.address.origin}`
  const answer = await answerTo(request, agent, signal).catch((thrown: unknown) => {
    signal.throwIfAborted()
    throw isRefusal(thrown) ? thrown : new RequestError(`${what} failed: ${reasonOf(thrown)}`, null, { cause: thrown })
  })
  if (answer.status < 200 || answer.status > 299) throw statusError(what, answer)
  if (answer.cut) logger.warn(`${what} answered more than ${request.maxResponse} bytes: the result holds the first of them`)
  return { status: answer.status, body: bodyOf(answer) }
}

async function answerTo(
  { address, method, headers, body, maxResponse }: Request,
  agent: Agent,
  signal: AbortSignal,
): Promise<Answer> {
  const path = address.pathname + address.search
  const response = await agent.request({ origin: address.origin, path, method, headers, body, signal })
  const { text, cut } = await readUpTo(maxResponse, response.body)
  return { status: response.statusCode, contentType: String(response.headers['content-type'] ?? ''), text, cut }
}

async function readUpTo(maxBytes: number, body: AsyncIterable<Buffer>): Promise<{ text: string; cut: boolean }> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > maxBytes) break
  }
  return { text: Buffer.concat(chunks).toString('utf8', 0, maxBytes), cut: bytes > maxBytes }
}

function bodyOf({ contentType, text, cut }: Answer): unknown {
  if (cut || !/^application\/(?:[^;]+\+)?json\b/i.test(contentType)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const passing = new Set([408, 425, 429])
const maxQuoted = 200

function statusError(what: string, { status, text }: Answer): Error {
  const redirect = status >= 300 && status <= 399 ? ', and redirects are not followed: give the final address' : ''
  const quoted = text.trim().slice(0, maxQuoted)
  const error = new RequestError(`${what} answered ${status}${redirect}${quoted === '' ? '' : `: ${quoted}`}`, status)
  return passing.has(status) || status >= 500 ? error : permanent(error)
}

function isRefusal(thrown: unknown): thrown is TreadleError {
  return thrown instanceof TreadleError && thrown.code === 'URL_REFUSED'
}

/** A host with several addresses fails with one error per address. */
function reasonOf(thrown: unknown): string {
  return thrown instanceof AggregateError ? thrown.errors.map(messageOf).join('; ') : messageOf(thrown)
}
