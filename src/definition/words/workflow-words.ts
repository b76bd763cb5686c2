import { type Duration, parseDuration } from '../../core/time/duration.ts'
import { type ChildFailure, childFailureProblem, waitProblem } from '../dispatching/workflow.ts'
import { refuse } from '../names.ts'
import { subjectOf, type WordTable } from './word-table.ts'

/** For jobs that wait for others. */
export interface WorkflowWords {
  /** It does not wait for longer than this, neither for jobs that it depends on nor for its children; 7 days by default. */
  waitAtMost(time: Duration): this
  /** What becomes of it when one of its children fails: it fails too (the default), counts it as ended, or does not wait for the rest. */
  onChildFailure(policy: ChildFailure): this
}

export const workflowWords = {
  waitAtMost: (said, time: Duration) => {
    const longestWaitMs = parseDuration(time, 'waitAtMost')
    refuse(subjectOf(said), [waitProblem(longestWaitMs)])
    return { longestWaitMs }
  },
  onChildFailure: (said, policy: ChildFailure) => {
    refuse(subjectOf(said), [childFailureProblem(policy, 'onChildFailure')])
    return { onChildFailure: policy }
  },
} as const satisfies WordTable<WorkflowWords>
