import type { IncomingMessage } from 'node:http'
import type { Json } from '../../../core/text/json.ts'
import type { HttpLimits } from '../limits.ts'
import { HttpProblem } from './http-problem.ts'

/** A body as it was sent, and its parsed value. */
export interface Body {
  readonly text: string
  readonly value: Json
}

export async function readBody(request: IncomingMessage, limits: HttpLimits): Promise<Body | null> {
  const bytes = await bytesOf(request, limits.maxBodyBytes)
  if (bytes.length === 0) return null
  refuseOtherThanJson(request)
  const text = textOf(bytes)
  const value = parsed(text)
  refuseUnsound(value, limits.maxDepth)
  return { text, value }
}

/** Bytes beyond the limit are not kept; Node reads and discards them. */
async function bytesOf(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const tooLarge = () => new HttpProblem('body-too-large', `The body may have at most ${maxBytes} bytes`)
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge()
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const take = (chunk: Buffer) => {
      length += chunk.length
      if (length <= maxBytes) return void chunks.push(chunk)
      request.off('data', take)
      request.resume()
      reject(tooLarge())
    }
    request.on('data', take)
    request.once('end', () => resolve(Buffer.concat(chunks)))
    request.once('error', reject)
  })
}

function refuseOtherThanJson({ headers }: IncomingMessage): void {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').split(';').map((part) => part.trim().toLowerCase())
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.replaceAll(/^charset=|"/g, '')
  const isJson = type === 'application/json' || /^application\/[\w.+-]+\+json$/.test(type)
  if (!isJson || (charset ?? 'utf-8') !== 'utf-8') {
    throw new HttpProblem('not-json', 'Send the body as Content-Type: application/json, in UTF-8')
  }
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new HttpProblem('not-json', 'Send the body as it is, without a Content-Encoding')
  }
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new HttpProblem('malformed-json', 'The body is not UTF-8')
  }
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    // Node's own message would quote the body.
    throw new HttpProblem('malformed-json', 'The body cannot be read as JSON')
  }
}

/** Refuses numbers that are too large to represent, and values that are nested too deeply. */
function refuseUnsound(body: Json, maxDepth: number): void {
  let level: readonly Json[] = [body]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) throw new HttpProblem('malformed-json', `The body is nested deeper than ${maxDepth} levels`)
    const below: Json[] = []
    for (const value of level) {
      if (typeof value === 'number' && !Number.isFinite(value)) {
        throw new HttpProblem('malformed-json', 'The body holds a number that is too large')
      }
      if (typeof value === 'object' && value !== null) for (const member of Object.values(value)) below.push(member)
    }
    level = below
  }
}
