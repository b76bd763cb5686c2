import { HttpProblem } from '../../http/wire/http-problem.ts'
import { mostBodyBytes, type PageAnswer, type PageRequest } from './exchange.ts'
import { parsedBody, without } from './node-adapter.ts'

/** Wraps a Fetch API request, as Hono, Next.js and others pass it. */
export function pageRequestOfFetch(request: Request, basePath: string, publicPath: string | undefined): PageRequest {
  const url = new URL(request.url)
  return {
    method: request.method,
    base: publicPath ?? basePath,
    path: without(basePath, url.pathname),
    query: url.searchParams,
    isTls: url.protocol === 'https:',
    header: (name) => {
      // Compression is up to the host: Next.js drops `content-encoding`, so browsers would take a compressed file for a script.
      if (name === 'accept-encoding') return undefined
      return request.headers.get(name) ?? (name === 'host' ? url.host : undefined)
    },
    body: async () => {
      const text = await request.text()
      if (text.length > mostBodyBytes) throw new HttpProblem('body-too-large', `The body may have at most ${mostBodyBytes} bytes`)
      return parsedBody(text)
    },
    signal: request.signal,
  }
}

export function responseOf({ status, headers, body }: PageAnswer): Response {
  if (body === null || typeof body === 'string') return new Response(body, { status, headers })
  if (body instanceof Uint8Array) return new Response(new Uint8Array(body), { status, headers })
  return new Response(streamOf(body), { status, headers })
}

function streamOf(parts: AsyncIterable<string | Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = parts[Symbol.asyncIterator]()
  const encoder = new TextEncoder()
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await iterator.next()
      if (done === true) controller.close()
      else controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value)
    },
    async cancel() {
      await iterator.return?.()
    },
  })
}
