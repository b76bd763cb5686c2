/**
 * The time by which the queue decides. It is the server's time, so that programs whose clocks differ agree on it. Anything that
 * counts from now must read it after acquiring its locks.
 */
export interface QueueTime {
  now(): number
  /** For a statement that can read the server's clock itself when it runs: null tells it to do so. */
  stated(): number | null
  /** Converts an instant of the queue to the program's clock, as that clock runs now. */
  toLocal(at: number): number
  /** When a job sent to run at this instant is due. What is due by the sender's clock is due. */
  dueAt(runAt: number): number
}
