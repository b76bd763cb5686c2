/** What a successful run stores under its idempotency key. */
export interface OnceMark {
  readonly key: string
  readonly keepMs: number
  /** Stored and returned with the key: see `sealOnce`. */
  readonly seal?: string | null
  /** Stored instead of the job's result: the same result, encrypted for the key. */
  readonly result?: string | null
}
