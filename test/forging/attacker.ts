/** Values of a job's row, by the names that its columns have in SQL. */
export type Columns = Readonly<Record<string, string | number | null>>

/** What somebody does who can write to the database, and has not got the key. */
export interface Attacker {
  /** Writes columns of a job's row. */
  forge(id: string, columns: Columns): Promise<void>
  /** Writes what jobs that wait remember of those that they wait for. States are called by their numbers; 8 is a job that is missing. */
  forgeEdges(of: { readonly waiter: string } | { readonly target: string }, columns: Columns): Promise<void>
  /** Makes a job claimable that waits for others. */
  release(id: string): Promise<void>
  deleteJob(id: string): Promise<void>
  /** Writes the counter of the numbers of jobs: the next one. */
  forgeCounter(next: string): Promise<void>
  /** Writes what is kept under all idempotency keys whose work is done. */
  forgeOnce(kept: { readonly result: string | null; readonly seal: string | null }): Promise<void>
  /** Gives the unique key of one job to another one. */
  moveKey(from: string, to: string): Promise<void>
  /** Writes columns of all stored schedules, and has everybody read them again. */
  forgeSchedules(columns: Columns): Promise<void>
  /** Writes all stored schedules once more, under this name. */
  copySchedules(name: string): Promise<void>
}
