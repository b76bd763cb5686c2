import type { TreeProgress } from '../../definition/dispatching/progress.ts'
import { finalStates, type JobState, jobStates } from '../../queue/contract/job-state.ts'
import type { TreeCounts } from '../../queue/contract/queue-counts.ts'

export function treeProgress({ total, counts }: TreeCounts): TreeProgress {
  const ended = finalStates.reduce((sum, state) => sum + counts[state], 0)
  return { total, counts, done: total === 0 ? 1 : ended / total }
}

/** Progress of a job that is not part of a workflow. */
export function aloneProgress(state: JobState): TreeProgress {
  const isEnded = (finalStates as readonly JobState[]).includes(state)
  const none = Object.fromEntries(jobStates.map((each) => [each, 0]))
  return { total: 1, counts: { ...none, [state]: 1 }, done: isEnded ? 1 : 0 }
}
