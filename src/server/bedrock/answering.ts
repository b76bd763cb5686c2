import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { BedrockAnswer } from './connections/peer.ts'
import type { RequestPeer } from './connections/request-peer.ts'
import type { BedrockReply } from './wire/reply.ts'
import type { BedrockRequest } from './wire/request.ts'

export const timedOut: BedrockReply = { code: 555, text: 'Timeout' }
export const unauthorized: BedrockReply = { code: 401, text: 'Unauthorized' }
export const tooLarge: BedrockReply = { code: 402, text: 'Request too large' }
export const queued: BedrockReply = { code: 202, text: 'Successfully queued', headers: { Connection: 'close' } }
export const tooManyFailures: BedrockReply = { code: 429, text: 'Too many wrong tokens' }
export const fromBrowser: BedrockReply = { code: 403, text: 'Forbidden: no page of a browser is answered here' }
export const full: BedrockReply = { code: 500, text: 'Refused: the server holds as much as it may' }
export const refused: BedrockReply = { code: 500, text: 'Refused' }
const unhandled: BedrockReply = { code: 500, text: 'Unhandled Exception' }

/** Executes the request and calls `reply` exactly once, synchronously if the answer is available synchronously. Never throws. */
export function answerWith(
  answer: BedrockAnswer,
  request: BedrockRequest,
  peer: RequestPeer,
  logger: Logger,
  reply: (reply: BedrockReply) => void,
): void {
  const failed = (thrown: unknown) => {
    const level = peer.gone.isAborted ? 'debug' : 'error'
    logger[level](`${JSON.stringify(request.verb.slice(0, 64))} from ${peer.remoteAddress} failed: ${messageOf(thrown)}`)
    reply(unhandled)
  }
  const answered = (answer: BedrockReply) => reply(answer.undelivered === undefined ? answer : soundly(answer, logger))
  let outcome: BedrockReply | Promise<BedrockReply>
  try {
    outcome = answer(request, peer)
  } catch (thrown) {
    failed(thrown)
    return
  }
  if (outcome instanceof Promise) outcome.then(answered, failed)
  else answered(outcome)
}

/** The same reply, but errors thrown by its `undelivered` callback are caught and logged. */
function soundly(reply: BedrockReply, logger: Logger): BedrockReply {
  const undelivered = () => {
    try {
      reply.undelivered?.()
    } catch (thrown) {
      logger.error(`A reply that was not delivered could not be taken back: ${messageOf(thrown)}`)
    }
  }
  return { ...reply, undelivered }
}
