export interface BedrockReply {
  readonly code: number
  readonly text: string
  /** In addition to `Content-Length`, which every reply has. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Writes `HTTP/1.1 ` before the code, for the health checks of load balancers. */
  readonly http?: boolean
  /** Called once if the reply could not be delivered to the client, or if the client did not want one. */
  readonly undelivered?: () => void
}

/** The reply as it is sent: headers in alphabetical order, the length last, and CRLF even to clients that send LF. */
export function replyText({ code, text, headers, body = '', http = false }: BedrockReply): string {
  const length = body === '' ? 0 : Buffer.byteLength(body)
  const head = `${http ? 'HTTP/1.1 ' : ''}${code} ${onOneLine(text)}\r\n`
  return `${head}${headers === undefined ? '' : headerLines(headers)}Content-Length: ${length}\r\n\r\n${body}`
}

function headerLines(headers: Readonly<Record<string, string>>): string {
  const names = Object.keys(headers)
  if (names.length > 1) names.sort(ignoringCase)
  let lines = ''
  for (const name of names) lines += `${name}: ${onOneLine(headers[name] as string)}\r\n`
  return lines
}

export function ignoringCase(a: string, b: string): number {
  const [lowA, lowB] = [a.toLowerCase(), b.toLowerCase()]
  return lowA < lowB ? -1 : lowA > lowB ? 1 : 0
}

const breaking = /[\r\n]/

/** A line break in a value would start another header or another reply. */
function onOneLine(text: string): string {
  return breaking.test(text) ? text.replaceAll('\r', '\\r').replaceAll('\n', '\\n') : text
}
