/**
 * The time by which the queue decides. It is the server's, so that programs whose clocks differ agree on it. Whatever counts from now
 * is to ask for it when its locks are had.
 */
export interface QueueTime {
  now(): number
  /** For a statement that can read the server's clock by itself, at its own moment: null has it do so. */
  stated(): number | null
  /** An instant of the queue by the program's clock, as that goes now. */
  toLocal(at: number): number
  /** When a job is due that is sent to run at this instant: what is due by the clock of its sender is due. */
  dueAt(runAt: number): number
}
