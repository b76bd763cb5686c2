export interface SendReceipt {
  /** The id of the stored job; if the unique key was taken, the id of the job that holds it. */
  readonly id: string
  /** Whether this call stored the job. */
  readonly stored: boolean
  /** Why the job was not made a child. Nothing was stored in that case. */
  readonly refused?: ChildRefusal
}

/**
 * `lost`: the lease of the intended parent is no longer held. `cancelled`: the parent was asked to stop. `circular`: the job that
 * holds the child's unique key waits for the parent.
 */
export type ChildRefusal = 'lost' | 'cancelled' | 'circular'
