import { TreadleError } from '../../core/errors.ts'
import type { TreeProgress } from '../../definition/dispatching/progress.ts'
import { isFinal, type JobState } from '../../queue/contract/job-state.ts'
import type { JobRecord, JobStore } from '../../queue/contract/store.ts'
import { treeProgress } from '../handles/tree-progress.ts'

/** A workflow as a whole, which has an id and is no job. */
export interface WholeWorkflow {
  readonly id: string
  readonly state: JobState
  readonly tree: TreeProgress
}

/** Null where no job belongs to a workflow of this id. */
export async function findWorkflow(id: string, store: Pick<JobStore, 'tree'>): Promise<WholeWorkflow | null> {
  const tree = treeProgress(await store.tree(id))
  return tree.total === 0 ? null : { id, state: stateOf(tree), tree }
}

/** Of one that goes on, what is nearest to being done; of one that has ended, what is worst. */
function stateOf({ counts, done }: TreeProgress): JobState {
  const has = (state: JobState) => (counts[state] ?? 0) > 0
  const order: readonly JobState[] = done === 1 ? ['dead', 'cancelled', 'succeeded'] : ['running', 'ready', 'scheduled']
  return order.find(has) ?? (done === 1 ? 'skipped' : 'blocked')
}

const pageSize = 500

/** All of its jobs that are still there, in the order in which they were said. */
export async function workflowJobs(root: string, store: Pick<JobStore, 'list'>): Promise<readonly JobRecord[]> {
  const found: JobRecord[] = []
  for (;;) {
    const last = found.at(-1)
    const page = await store.list({ root, limit: pageSize, ...(last !== undefined && { before: last.id }) })
    found.push(...page)
    if (page.length < pageSize) return found.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  }
}

export function refuseFailedWorkflow({ id, state, tree }: WholeWorkflow): void {
  if (state === 'succeeded' || state === 'skipped') return
  const failed = (tree.counts.dead ?? 0) + (tree.counts.cancelled ?? 0)
  throw new TreadleError('RUN_FAILED', `Workflow ${id} is ${state}: ${failed} of its ${tree.total} jobs did not succeed`)
}

/** Those that can be looked at to see why a workflow has not ended: what waits for others of it waits for them. */
export function openJobs(jobs: readonly JobRecord[]): readonly JobRecord[] {
  const open = jobs.filter(({ state }) => !isFinal(state))
  const first = open.filter(({ state }) => state !== 'blocked')
  return first.length > 0 ? first : open
}
