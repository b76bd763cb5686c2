import { jobNumberOf } from '../parameters.ts'
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

/** The same command, in its turn among all that change the same job. */
export function inTurn(command: Command): Command {
  return async (request, context) => context.jobs.turns.alone(`${jobNumberOf(request)}`, () => command(request, context))
}

export const ok: BedrockReply = Object.freeze({ code: 200, text: 'OK' })

export function okWith(body: string): BedrockReply {
  return { code: 200, text: 'OK', body }
}
