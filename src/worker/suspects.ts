/** What is known of the runs around a standstill. `begun` and `ended` did so since the event loop was last seen to turn. */
export interface Witnessed<Run> {
  readonly running: readonly Run[]
  readonly begun: readonly Run[]
  readonly ended: readonly { readonly run: Run; readonly durationMs: number }[]
}

/** A run that took up most of a standstill. */
const mostOfIt = 0.8

/**
 * Who may have kept the event loop from turning. A handler without a pause has ended by the time that anybody can look, so
 * what ran is not enough. A single run that began and ended within the standstill and took as long as it lasted is to blame:
 * whatever waited for something could not have ended in it.
 */
export function suspectsOf<Run>(stalledMs: number, { running, begun, ended }: Witnessed<Run>): readonly Run[] {
  const began = new Set(begun)
  const filled = ended.filter(({ run, durationMs }) => began.has(run) && durationMs >= stalledMs * mostOfIt)
  if (filled.length === 1) return filled.map(({ run }) => run)
  return [...running, ...ended.map(({ run }) => run)]
}
