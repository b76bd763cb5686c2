import { type Duration, parseDuration } from '../core/duration.ts'
import { refuse } from './names.ts'
import { Safeguards } from './safeguards.ts'
import { type ChildFailure, childFailures } from './workflow.ts'

/** The words for jobs that wait for others. */
export abstract class Teamwork<Payload> extends Safeguards<Payload> {
  /** It does not wait for longer than this, neither for jobs that it depends on nor for its children; 7 days by default. */
  waitAtMost(time: Duration): this {
    const longestWaitMs = parseDuration(time, 'waitAtMost')
    refuse(`Job "${this.job}"`, [waitProblem(longestWaitMs)])
    return this.set({ longestWaitMs })
  }

  /** What becomes of it when one of its children fails: it fails too (the default), counts it as ended, or does not wait for the rest. */
  onChildFailure(policy: ChildFailure): this {
    refuse(`Job "${this.job}"`, [childFailureProblem(policy, 'onChildFailure')])
    return this.set({ onChildFailure: policy })
  }
}

export function waitProblem(longestWaitMs: number): string | undefined {
  return longestWaitMs > 0 ? undefined : 'waitAtMost must be more than 0 ms'
}

export function childFailureProblem(policy: unknown, what: string): string | undefined {
  if (childFailures.includes(policy as ChildFailure)) return undefined
  return `${what} must be one of ${childFailures.join(', ')}, got ${JSON.stringify(policy)}`
}
