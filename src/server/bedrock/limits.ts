import { defaultStrangerLimits, type StrangerLimits } from '../strangers.ts'

/** What one connection may ask of the server. */
export interface BedrockLimits {
  /** The first line and all headers of one request. */
  readonly headerBytes: number
  readonly headers: number
  readonly bodyBytes: number
  /** The same until a connection has shown its token, where one is needed. */
  readonly strangerBytes: number
  /** How long such a request may take to arrive, however often something of it comes. */
  readonly strangerMs: number
  /** After this many refused requests a connection that has shown no token is closed. */
  readonly strangerRequests: number
  /** Connections that have shown no token, together and of one address. */
  readonly strangers: StrangerLimits
  /** Of requests that have begun and are not answered, on all connections together. Small ones may take as much again. */
  readonly unfinishedBytes: number
  /** Open at the same time; one more is closed at once. */
  readonly connections: number
  /** Requests that nobody waits for (`forget`, `commandExecuteTime`) and that have not ended. */
  readonly forgotten: number
  /** What they may hold together. */
  readonly forgottenBytes: number
  /** Replies that clients do not read, together. */
  readonly unreadBytes: number
  /** How long a request without a `timeout` may take. */
  readonly requestMs: number
  /** The same, for one that nobody waits for. */
  readonly forgottenMs: number
  /** A request that has begun must go on within this time, and a reply must be read within it. */
  readonly stalledMs: number
  /** All of a request must arrive within this time. */
  readonly arrivalMs: number
  /** For how long after a reply it is still found out that the client was gone already. */
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
