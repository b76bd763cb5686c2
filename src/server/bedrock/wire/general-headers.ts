/** Headers that any request may have, as the connection interprets them. */
export interface GeneralHeaders {
  /** In lower case; empty if there is none. */
  readonly connection: string
  /** The reply only repeats `Connection: close` if the client wrote it in lower case. */
  readonly echoesClose: boolean
  /** Undefined if there is none; zero or less if it leaves no time at all. */
  readonly timeoutMs: number | undefined
  /** Zero if there is none. */
  readonly executeAtMs: number
}

export function generalHeaders(headers: ReadonlyMap<string, string>): GeneralHeaders {
  const connection = headers.get('connection') ?? ''
  const timeout = headers.get('timeout')
  const executeAtUs = headers.get('commandexecutetime')
  return {
    connection: connection.toLowerCase(),
    echoesClose: connection === 'close',
    timeoutMs: timeout === undefined ? undefined : leadingInteger(timeout),
    executeAtMs: executeAtUs === undefined ? 0 : leadingInteger(executeAtUs) / 1_000,
  }
}

/**
 * Parses numbers as the protocol does: anything after the digits is ignored, and a text that does not begin with a number is 0.
 */
export function leadingInteger(text: string): number {
  const digits = /^\s*([+-]?\d+)/.exec(text)?.[1]
  return digits === undefined ? 0 : Number(digits)
}
