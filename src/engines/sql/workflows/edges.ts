import { createHash } from 'node:crypto'
import { digest } from '../../../core/text/digest.ts'
import type { FailurePolicy } from '../../../envelope/envelope.ts'
import { type JobState, jobStates } from '../../../queue/contract/job-state.ts'
import { readEnd } from '../../../queue/model/spoilt.ts'
import type { StoredEdge } from '../../../queue/rules/workflows/links.ts'
import { type End, isFailurePolicy } from '../../../queue/rules/workflows/waiting.ts'
import { isJobId } from '../rows/lease-token.ts'
import type { ColumnName } from '../rows/tables.ts'

/** Like `stateNumber`, plus a number for a job that does not exist. */
const outcomes: readonly (JobState | 'missing')[] = [...jobStates, 'missing']

/** One job waits for another, its target. */
export interface Edge {
  readonly edge: number
  readonly waiter: string
  readonly target: string
  /** What the job waits for, if that is not an id. */
  readonly target_name: string | null
  readonly target_job: string | null
  /** For a child: a digest of its parent's name for it. */
  readonly child_key: string | null
  readonly child_name: string | null
  readonly policy: FailurePolicy
  readonly waiting: number
  readonly outcome: number | null
  readonly result: string | null
  readonly seal: string | null
  readonly error: string | null
}

export type NewEdge = Pick<Edge, 'waiter' | 'target' | 'target_name' | 'target_job' | 'child_key' | 'child_name' | 'policy'>

export const newEdgeColumns = [
  'waiter',
  'target',
  'target_name',
  'target_job',
  'child_key',
  'child_name',
  'policy',
] as const satisfies readonly (ColumnName<'edges'> & keyof NewEdge)[]

export const edgeColumns = [
  'edge',
  ...newEdgeColumns,
  'waiting',
  'outcome',
  'result',
  'seal',
  'error',
] as const satisfies readonly (ColumnName<'edges'> & keyof Edge)[]

/** The target of an edge. A text that is not an id is stored under an id that no job has. */
export function targetOf(id: string): Pick<Edge, 'target' | 'target_name'> {
  if (isJobId(id)) return { target: id, target_name: null }
  const hex = createHash('sha256').update(id).digest('hex')
  const target = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
  return { target, target_name: id }
}

export function childKey(key: string): string {
  return digest(key)
}

/** An edge in the form that the rules use. */
export function storedEdge({ waiter, target, target_name, target_job, child_name, policy, waiting, ...row }: Edge): StoredEdge {
  const { outcome, result, seal, error } = row
  return {
    waiterId: waiter,
    id: target_name ?? target,
    job: target_job,
    key: child_name,
    policy: isFailurePolicy(policy) ? policy : 'fail',
    waiting: waiting === 1,
    end: outcome === null ? null : readEnd({ state: outcomes[outcome], result, seal, error }),
  }
}

export function newEdge({ waiterId, id, job, key, policy }: StoredEdge): NewEdge {
  const child_key = key === null ? null : childKey(key)
  return { waiter: waiterId, ...targetOf(id), target_job: job, child_key, child_name: key, policy }
}

export function outcomeNumber({ state }: End): number {
  return outcomes.indexOf(state)
}
