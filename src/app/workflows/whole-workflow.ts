import { TreadleError } from '../../core/errors.ts'
import type { TreeProgress } from '../../definition/dispatching/progress.ts'
import { isFinal, type JobState } from '../../queue/contract/job-state.ts'
import { treeCounts } from '../../queue/contract/queue-counts.ts'
import type { JobRecord, JobStore } from '../../queue/contract/store.ts'
import { treeProgress } from '../handles/tree-progress.ts'

/** A workflow as a whole. It has an id but is not a job. */
export interface WholeWorkflow {
  readonly id: string
  readonly state: JobState
  readonly tree: TreeProgress
}

/** Null if no job belongs to a workflow with this id. */
export async function findWorkflow(id: string, store: Pick<JobStore, 'counts'>): Promise<WholeWorkflow | null> {
  const tree = treeProgress(await treeCounts(store, id))
  return tree.total === 0 ? null : { id, state: stateOf(tree), tree }
}

/** The most advanced state if jobs are still pending, the worst outcome if all have ended. */
function stateOf({ counts, done }: TreeProgress): JobState {
  const has = (state: JobState) => (counts[state] ?? 0) > 0
  const order: readonly JobState[] = done === 1 ? ['dead', 'cancelled', 'succeeded'] : ['running', 'ready', 'scheduled']
  return order.find(has) ?? (done === 1 ? 'skipped' : 'blocked')
}

const pageSize = 500

/** All stored jobs of the workflow, in the order in which they were added. */
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

/** The jobs that explain why a workflow has not ended. Blocked ones only wait for these. */
export function openJobs(jobs: readonly JobRecord[]): readonly JobRecord[] {
  const open = jobs.filter(({ state }) => !isFinal(state))
  const first = open.filter(({ state }) => state !== 'blocked')
  return first.length > 0 ? first : open
}
