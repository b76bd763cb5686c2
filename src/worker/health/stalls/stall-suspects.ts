/** A run that ended since the last turn of the event loop. */
export interface EndedRun<Run> {
  readonly run: Run
  readonly durationMs: number
  /** Whether the run had already begun at that turn. */
  readonly beganBefore: boolean
}

/** Share of a stall that a run must have taken to be the cause. */
const mostOfIt = 0.8

/**
 * The runs that may have blocked the event loop. A handler that blocked it has already ended when this is checked, so the current
 * runs are not enough. If exactly one run began and ended within the stall and took most of it, it is the cause: a run that
 * waited for anything could not have ended during the stall.
 */
export function suspectsOf<Run>(stalledMs: number, running: readonly Run[], ended: readonly EndedRun<Run>[]): readonly Run[] {
  const filled = ended.filter(({ durationMs, beganBefore }) => !beganBefore && durationMs >= stalledMs * mostOfIt)
  if (filled.length === 1) return filled.map(({ run }) => run)
  return [...running, ...ended.map(({ run }) => run)]
}
