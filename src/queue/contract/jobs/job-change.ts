import type { Envelope, Seal } from '../../../envelope/envelope.ts'
import type { AttemptError } from '../failure.ts'

/** A change to one waiting job. */
export type JobChange = Amendment | Rescheduling | Rejection

/**
 * Replaces the envelope. It may change the payload, time, queue, priority, identity and even `job`. The id, number, creation
 * time, unique key and how long that is held stay the same.
 */
export interface Amendment {
  readonly id: string
  /**
   * What the amendment is based on. If the job has another payload, identity or signature by now, nothing is changed. Null skips
   * the check.
   */
  readonly expected: Seal | null
  /** With the same id, and newly sealed. */
  readonly envelope: Envelope
  /**
   * Apply it to running and ended jobs too. The job's state and lease stay as they are: the current holder has the old envelope,
   * but if the lease is lost, the job comes back with the new one.
   */
  readonly inAnyState?: true
  /** A job that waits for others, such as its children, waits for them no more. */
  readonly unblocks?: true
  /** Keep the job's current time, whatever the envelope says: it may have been moved since the envelope was made. */
  readonly keepsTime?: true
}

/** Moves the job to another time. */
export interface Rescheduling {
  readonly id: string
  readonly runAt: number
}

/** Ends the job as dead (`rejected`), because its envelope was inspected and found to be forged or spoilt. */
export interface Rejection {
  readonly id: string
  /** The envelope that was refused. If the job has another one by now, it is left alone. */
  readonly expected: Seal
  readonly error: AttemptError
}

/** The first three say that an amendment, a rescheduling or a rejection was applied; the others, why it was not. */
export type AmendAnswer = 'amended' | 'moved' | 'rejected' | 'changed' | 'claimed' | 'ended' | 'missing'
