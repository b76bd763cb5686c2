/** What one connection may ask of the server. */
export interface BedrockLimits {
  /** The first line and all headers of one request. */
  readonly headerBytes: number
  readonly headers: number
  readonly bodyBytes: number
  /** Of requests that have begun and are not complete, on all connections together. */
  readonly unfinishedBytes: number
  /** Open at the same time; one more is closed at once. */
  readonly connections: number
  /** Requests that nobody waits for (`forget`, `commandExecuteTime`) and that have not ended. */
  readonly forgotten: number
  /** How long a request without a `timeout` may take. */
  readonly requestMs: number
  /** The same, for one that nobody waits for. */
  readonly forgottenMs: number
  /** A request that has begun must go on within this time, and a reply must be read within it. */
  readonly stalledMs: number
  /** For how long after a reply it is still found out that the client was gone already. */
  readonly doubtMs: number
}

export const defaultBedrockLimits: BedrockLimits = {
  headerBytes: 16 * 1024 * 1024,
  headers: 1_000,
  bodyBytes: 1024 * 1024,
  unfinishedBytes: 256 * 1024 * 1024,
  connections: 20_000,
  forgotten: 10_000,
  requestMs: 110_000,
  forgottenMs: 3_600_000,
  stalledMs: 60_000,
  doubtMs: 50,
}
