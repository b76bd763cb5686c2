import type { BedrockPeer } from '../connections/peer.ts'
import type { WireQueue } from '../jobs/wire-queue.ts'
import { jobNumberOf } from '../wire/parameters.ts'
import type { BedrockReply } from '../wire/reply.ts'
import type { BedrockRequest } from '../wire/request.ts'

/** What a command needs to execute. */
export interface CommandContext {
  readonly jobs: WireQueue
  readonly peer: BedrockPeer
  /** Whether a person typed the request, so that the reply is as short as the documentation shows. */
  readonly isBrief: boolean
}

export type Command = (request: BedrockRequest, context: CommandContext) => Promise<BedrockReply>

/** The same command, serialized with all others that change the same job. */
export function inTurn(command: Command): Command {
  return async (request, context) => context.jobs.turns.alone(`${jobNumberOf(request)}`, () => command(request, context))
}

export const ok: BedrockReply = Object.freeze({ code: 200, text: 'OK' })

export function okWith(body: string): BedrockReply {
  return { code: 200, text: 'OK', body }
}
