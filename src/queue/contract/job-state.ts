export const jobStates = ['ready', 'scheduled', 'blocked', 'running', 'succeeded', 'dead', 'cancelled', 'skipped'] as const

/** `scheduled → ready → running → succeeded | dead | cancelled | skipped`; `blocked` waits for something other than time. */
export type JobState = (typeof jobStates)[number]

export function zeroCounts(): Record<JobState, number> {
  return { ready: 0, scheduled: 0, blocked: 0, running: 0, succeeded: 0, dead: 0, cancelled: 0, skipped: 0 }
}

export const finalStates = ['succeeded', 'dead', 'cancelled', 'skipped'] as const

export type FinalState = (typeof finalStates)[number]

export function isFinal(state: JobState): state is FinalState {
  return (finalStates as readonly JobState[]).includes(state)
}
