/** What a run that ends well leaves behind under its idempotency key. */
export interface OnceMark {
  readonly key: string
  readonly keepMs: number
  /** Kept with the key and given back with it: see `sealOnce`. */
  readonly seal?: string | null
  /** What is kept in place of the job's result: the same one, encrypted for the key. */
  readonly result?: string | null
}
