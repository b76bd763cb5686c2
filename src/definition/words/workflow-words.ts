import { type Duration, parseDuration } from '../../core/time/duration.ts'
import { type ChildFailure, childFailureProblem, waitProblem } from '../dispatching/workflow.ts'
import { refuse } from '../names.ts'
import { subjectOf, type WordTable } from './word-table.ts'

/** Builder methods for jobs that wait for others. */
export interface WorkflowWords {
  /** Maximum time to wait for dependencies and for children; 7 days by default. */
  waitAtMost(time: Duration): this
  /**
   * What happens when a child fails: `fail` fails this job too (the default), `ignore` treats the child as finished, `continue`
   * stops waiting for the others.
   */
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
