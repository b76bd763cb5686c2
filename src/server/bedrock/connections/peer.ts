import type { Grant } from '../../access/grant.ts'
import type { BedrockReply } from '../wire/reply.ts'
import type { BedrockRequest } from '../wire/request.ts'

/** The client of one request. */
export interface BedrockPeer {
  /** Aborts when no one waits for the reply any more: the client is gone, its time is up, or the server is shut down forcibly. */
  readonly signal: AbortSignal
  /**
   * Aborts when the server stops, or when the client seems to have given up because it closed its sending side while waiting.
   * Long operations for the client, such as waiting for a job, should end then. A client that closes it right after its request
   * still waits.
   */
  readonly closing: AbortSignal
  readonly remoteAddress: string
  readonly isLoopback: boolean
  /** What the client may do. */
  readonly grant: Grant
  /** The header `timeout`; undefined if the request has none. */
  readonly timeoutMs: number | undefined
  /** False if the request wants no reply: `Connection: forget`, or a `commandExecuteTime` in the future. */
  readonly isListening: boolean
}

/** Executes one request. A request with `Connection: wait` keeps track of its own time; any other is ended by its deadline. */
export type BedrockAnswer = (request: BedrockRequest, peer: BedrockPeer) => BedrockReply | Promise<BedrockReply>
