export interface Coordination {
  /**
   * Asks whether this job may run under its idempotency key. Only a finished run suppresses another one. The key belongs to the
   * run that claimed it until its lease ends and the children it waits for have ended. A `done` settlement that carries the key
   * keeps it together with the result; otherwise it is freed, and the next run of the same job has to claim it again. A job that
   * is not running gets an answer but does not acquire the key.
   */
  claimOnce(key: string, jobId: string): Promise<OnceClaim>
  /** Takes a lock for `ttlMs`, or renews it if this owner already has it. An expired lock is free. */
  lock(name: string, holder: LockHolder, ttlMs: number): Promise<LockAnswer>
  /** Frees a lock. Only its owner can; false if this owner does not hold it, or no longer does. */
  unlock(name: string, owner: string): Promise<boolean>
}

export type OnceClaim =
  | { readonly kind: 'claimed' }
  /** Another job is running under the key. */
  | { readonly kind: 'busy' }
  /** A run has finished under the key, with this result. */
  | { readonly kind: 'done'; readonly result: string | null; readonly seal: string | null }

export interface LockHolder {
  /** Unique to each program that may hold a lock. */
  readonly owner: string
  readonly host: string
  readonly pid: number
}

export type LockAnswer = { readonly held: true } | { readonly held: false; readonly by: HeldLock }

export interface HeldLock extends LockHolder {
  readonly since: number
  readonly expiresAt: number
}

/** What a successful run stores under its idempotency key. */
export interface OnceMark {
  readonly key: string
  readonly keepMs: number
  /** Stored and returned with the key: see `sealOnce`. */
  readonly seal?: string | null
  /** Stored instead of the job's result: the same result, encrypted for the key. */
  readonly result?: string | null
}
