import type { BedrockPeer } from '../peer.ts'
import type { BedrockReply } from '../reply.ts'
import type { BedrockRequest } from '../request.ts'
import type { WireQueue } from '../rules/wire-queue.ts'

/** What a command is carried out with. */
export interface CommandContext {
  readonly jobs: WireQueue
  readonly peer: BedrockPeer
  /** A person typed the request: the reply is as short as the documentation shows it. */
  readonly isBrief: boolean
}

export type Command = (request: BedrockRequest, context: CommandContext) => Promise<BedrockReply>

export const ok: BedrockReply = Object.freeze({ code: 200, text: 'OK' })

export function okWith(body: string): BedrockReply {
  return { code: 200, text: 'OK', body }
}
