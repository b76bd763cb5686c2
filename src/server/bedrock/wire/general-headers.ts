/** The headers that any request may have, as the connection understands them. */
export interface GeneralHeaders {
  /** In lower case; empty where there is none. */
  readonly connection: string
  /** The reply repeats `Connection: close` only to those who wrote it in lower case. */
  readonly echoesClose: boolean
  /** Undefined where there is none, zero or less where it leaves no time at all. */
  readonly timeoutMs: number | undefined
  /** Zero where there is none. */
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

/** As the protocol reads numbers: whatever follows the digits is ignored, and what begins with none is 0. */
export function leadingInteger(text: string): number {
  const digits = /^\s*([+-]?\d+)/.exec(text)?.[1]
  return digits === undefined ? 0 : Number(digits)
}
