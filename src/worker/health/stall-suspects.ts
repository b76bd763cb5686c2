/** A run that ended since the event loop was last seen to turn. */
export interface EndedRun<Run> {
  readonly run: Run
  readonly durationMs: number
  /** It had begun when the event loop was last seen to turn. */
  readonly beganBefore: boolean
}

/** A run that took up most of a standstill. */
const mostOfIt = 0.8

/**
 * Who may have kept the event loop from turning. A handler without a pause has ended by the time that anybody can look, so
 * what ran is not enough. A single run that began and ended within the standstill and took as long as it lasted is to blame:
 * whatever waited for something could not have ended in it.
 */
export function suspectsOf<Run>(stalledMs: number, running: readonly Run[], ended: readonly EndedRun<Run>[]): readonly Run[] {
  const filled = ended.filter(({ durationMs, beganBefore }) => !beganBefore && durationMs >= stalledMs * mostOfIt)
  if (filled.length === 1) return filled.map(({ run }) => run)
  return [...running, ...ended.map(({ run }) => run)]
}
