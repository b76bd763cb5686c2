import type { Logger } from '../../../core/logger.ts'
import type { Clock } from '../../../core/time/clock.ts'
import type { Access } from '../../access/access.ts'
import type { Strangers } from '../../strangers.ts'
import type { UnreadReplies } from '../../unread-replies.ts'
import type { BedrockLimits } from '../limits.ts'
import type { BedrockRequest } from '../wire/request.ts'
import type { UnfinishedBytes } from '../wire/unfinished-bytes.ts'
import type { Forgotten } from './forgotten.ts'
import type { BedrockAnswer } from './peer.ts'

/** Shared by all connections of a listener. */
export interface ConnectionContext {
  readonly answer: BedrockAnswer
  readonly access: Access
  readonly needsToken: (request: BedrockRequest) => boolean
  /** Called for each request that is executed. */
  readonly onRequest: (client: object) => void
  readonly forgotten: Forgotten
  readonly unfinished: UnfinishedBytes
  readonly unread: UnreadReplies
  /** Undefined if no token is needed. */
  readonly strangers: Strangers | undefined
  readonly clock: Clock
  readonly limits: BedrockLimits
  readonly logger: Logger
}
