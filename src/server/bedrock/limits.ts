import { defaultStrangerLimits, type StrangerLimits } from '../strangers.ts'

/** Limits for the requests of clients. */
export interface BedrockLimits {
  /** Maximum size of the first line and all headers of one request. */
  readonly headerBytes: number
  readonly headers: number
  readonly bodyBytes: number
  /** Replaces the limits on headers and bodies until a connection has sent its token, if one is needed. */
  readonly strangerBytes: number
  /** How long such a request may take to arrive, however steadily it arrives. */
  readonly strangerMs: number
  /** A connection without a token is closed after this many refused requests. */
  readonly strangerRequests: number
  /** Maximum number of connections without a token, in total and per address. */
  readonly strangers: StrangerLimits
  /**
   * Maximum size of all requests that have begun and are not answered, on all connections. Small ones may take the same amount
   * again.
   */
  readonly unfinishedBytes: number
  /** Maximum number of open connections; further ones are closed immediately. */
  readonly connections: number
  /** Maximum number of unfinished requests whose clients do not wait (`forget`, `commandExecuteTime`). */
  readonly forgotten: number
  /** Maximum total size of those requests. */
  readonly forgottenBytes: number
  /** Maximum total size of replies that clients have not read. */
  readonly unreadBytes: number
  /** How long a request without a `timeout` may take. */
  readonly requestMs: number
  /** The same, for a request whose client does not wait. */
  readonly forgottenMs: number
  /** How long a request may stop arriving, or a reply stay unread. */
  readonly stalledMs: number
  /** How long a whole request may take to arrive. */
  readonly arrivalMs: number
  /** How long after a reply the server can still detect that the client was already gone. */
  readonly doubtMs: number
}

export const defaultBedrockLimits: BedrockLimits = {
  headerBytes: 16 * 1024 * 1024,
  headers: 2_000,
  bodyBytes: 1024 * 1024,
  strangerBytes: 64 * 1024,
  strangerMs: 10_000,
  strangerRequests: 10,
  strangers: defaultStrangerLimits,
  unfinishedBytes: 64 * 1024 * 1024,
  connections: 20_000,
  forgotten: 10_000,
  forgottenBytes: 64 * 1024 * 1024,
  unreadBytes: 128 * 1024 * 1024,
  requestMs: 110_000,
  forgottenMs: 3_600_000,
  stalledMs: 60_000,
  arrivalMs: 600_000,
  doubtMs: 50,
}
