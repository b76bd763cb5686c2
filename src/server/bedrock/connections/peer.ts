import type { Grant } from '../../access/grant.ts'
import type { BedrockReply } from '../wire/reply.ts'
import type { BedrockRequest } from '../wire/request.ts'

/** Who waits for the reply to one request. */
export interface BedrockPeer {
  /** Aborts when nobody waits any more: the client is gone, its time is up, or the server ends by force. */
  readonly signal: AbortSignal
  /**
   * Aborts when the client seems to have given up, for it has closed its sending side while it waited, or when the server stops:
   * what takes long on its behalf, such as waiting for a job, should end then. One that closed it behind its request still waits.
   */
  readonly closing: AbortSignal
  readonly remoteAddress: string
  readonly isLoopback: boolean
  /** What the client may do. */
  readonly grant: Grant
  /** The header `timeout`; undefined where the request has none. */
  readonly timeoutMs: number | undefined
  /** False where the request wants no reply: `Connection: forget`, or a `commandExecuteTime` in the future. */
  readonly isListening: boolean
}

/** Carries out one request. A request with `Connection: wait` looks after its own time; any other is ended by its deadline. */
export type BedrockAnswer = (request: BedrockRequest, peer: BedrockPeer) => BedrockReply | Promise<BedrockReply>
