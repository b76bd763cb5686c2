import type { Envelope } from '../../../envelope/envelope.ts'
import type { OnceMark } from '../coordination.ts'
import type { AttemptError, DeadReason } from '../failure.ts'

/** How a lease ends. */
export type Settlement = { readonly token: string } & (
  | {
      readonly kind: 'done'
      readonly result: string | null
      /** Stored and returned with the result: see `sealResult`. Null or absent if the result is not signed. */
      readonly seal?: string | null
      /**
       * Apply only if the job is not linked. Otherwise the receipt is `unsealed`, nothing is written and the lease stays held.
       */
      readonly unlinked?: true
      /** False deletes the job as soon as it has ended. */
      readonly keep: boolean
      readonly once?: OnceMark
      /**
       * Apply only if the job waits for no children. Otherwise the receipt is `blocked`, nothing is written and the lease stays
       * held.
       */
      readonly alone?: true
    }
  | { readonly kind: 'retry'; readonly delayMs: number; readonly error: AttemptError }
  /** Returns the job to the queue without using up the attempt. Without a delay it gets its old place back. */
  | { readonly kind: 'snooze'; readonly delayMs: number }
  /** Run again when its children have ended, or at once if it waits for none. Does not use up the attempt. */
  | { readonly kind: 'wait' }
  /**
   * The run succeeded, and the job is to run again as this envelope says, with all its attempts. The envelope may change the
   * payload, identity, time, queue, priority and even `job`. The job keeps its id, number, creation time, unique key, links,
   * errors and last start. Jobs that wait for it keep waiting, and children that it waits for make no difference.
   */
  | { readonly kind: 'again'; readonly envelope: Envelope }
  | { readonly kind: 'dead'; readonly reason: DeadReason; readonly error: AttemptError; readonly keep: boolean }
  | { readonly kind: 'cancelled'; readonly keep: boolean }
  /** Ended without a run, so without using up an attempt. The result is that of another run that did the same work. */
  | {
      readonly kind: 'skipped'
      readonly why: string
      readonly keep: boolean
      readonly result?: string | null
      readonly seal?: string | null
      /** The result was kept encrypted and must be stored encrypted, whatever the job says: see `sealed`. */
      readonly encrypted?: true
      /** The result was accepted without a signature and must be stored without one: see `sealed`. */
      readonly unsigned?: true
    }
)

/**
 * - `applied`: as requested.
 * - `lost`: the lease is no longer held, and nothing was written.
 * - `blocked`: the job is done but waits for children. It keeps its result until the last of them has ended.
 * - `failed`: a child failed in a way that its parent does not survive, so the job failed with it.
 * - `cancelled`: the job was asked to stop, so it was cancelled instead of returning to the queue or waiting.
 * - `unsealed`: see `unlinked` in `Settlement`.
 */
export type SettleReceipt = 'applied' | 'lost' | 'blocked' | 'failed' | 'cancelled' | 'unsealed'
