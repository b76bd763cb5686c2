import { zeroCounts } from '../../../queue/contract/job-state.ts'
import { type TreeCounts, treeCounts } from '../../../queue/contract/queue-counts.ts'
import type { JobLink, JobRecord, JobStore } from '../../../queue/contract/store.ts'
import type { Grant } from '../../access/grant.ts'
import { HttpProblem } from '../../http/wire/http-problem.ts'
import type { Viewer } from '../access/viewer.ts'
import type { ViewDeps } from '../deps.ts'
import type { State } from '../shared/views/job.ts'
import type { GraphNode, WorkflowPage, WorkflowRow, WorkflowView } from '../shared/views/workflow.ts'
import { walk } from './jobs/walk.ts'
import type { WorkflowLinks } from './workflow-links.ts'

const pageSize = 25
const mostMembers = 500
const budget = { rows: 5_000, bytes: 32 * 1024 * 1024, ms: 600 }

/** Workflows are found through their jobs: reads the newest jobs of workflows until it has found enough of them. */
export async function workflowPage({ store, clock }: ViewDeps, { grant }: Viewer, cursor?: string): Promise<WorkflowPage> {
  const roots = new Map<string, JobRecord>()
  const { next, searched } = await walk(
    store,
    clock,
    { filter: { isLinked: true }, grant, cursor, budget, rowsAtOnce: 200 },
    ({ root, ...record }) => {
      // The first of its jobs gives the workflow its name.
      if (root !== null) roots.set(root, { root, ...record })
      return roots.size === pageSize ? 'enough' : 'more'
    },
  )
  const workflows = await Promise.all(
    [...roots].map(async ([root, newest]): Promise<WorkflowRow> => {
      const [{ total, counts }, first] = await Promise.all([treeFor(grant, store, root), store.get(root)])
      const name = first?.job ?? newest.job
      return {
        root,
        name,
        total,
        counts,
        startedAt: first?.createdAt ?? timeOf(root) ?? newest.createdAt,
        newestJobAt: newest.createdAt,
      }
    }),
  )
  return { workflows: workflows.filter(({ total }) => total > 1), next, searched }
}

export async function workflowView(
  { store }: ViewDeps,
  { grant }: Viewer,
  known: WorkflowLinks,
  root: string,
): Promise<WorkflowView> {
  const [tree, members] = await Promise.all([treeFor(grant, store, root), store.list({ root, limit: mostMembers })])
  const seen = members.filter((member) => grant.sees(member))
  if (seen.length === 0)
    throw new HttpProblem('not-found', `There is no workflow ${JSON.stringify(root)}, or its jobs are deleted already`)
  const links = new Map(await Promise.all(seen.map(async (member) => [member.id, await known.of(member)] as const)))
  const first = seen.find(({ id }) => id === root) ?? (seen.at(-1) as JobRecord)
  const ends = seen.map(({ finishedAt }) => finishedAt)
  return {
    root,
    name: first.job,
    total: tree.total,
    counts: tree.counts,
    startedAt: Math.min(...seen.map(({ createdAt }) => createdAt)),
    endedAt: ends.every((end) => end !== null) ? Math.max(...ends) : null,
    ...graphOf(seen, links),
    cut: members.length === mostMembers,
  }
}

/** The counts of a workflow. For a viewer limited to some jobs, counts only those, among the newest ones. */
async function treeFor(grant: Grant, store: JobStore, root: string): Promise<TreeCounts> {
  if (!grant.isLimited) return treeCounts(store, root)
  const members = (await store.list({ root, limit: mostMembers })).filter((member) => grant.sees(member))
  const counts = zeroCounts()
  for (const { state } of members) counts[state]++
  return { total: members.length, counts }
}

/** Jobs with the same name, the same dependencies and the same dependents share one node. */
function graphOf(
  members: readonly JobRecord[],
  links: ReadonlyMap<string, readonly JobLink[]>,
): { readonly nodes: readonly GraphNode[]; readonly edges: WorkflowView['edges'] } {
  const byId = new Map(members.map((member) => [member.id, member]))
  const waitsFor = new Map<string, readonly string[]>()
  const waiters = new Map<string, string[]>()
  for (const { id } of members) {
    const targets = (links.get(id) ?? []).map((link) => link.id).filter((target) => byId.has(target))
    waitsFor.set(id, targets)
    for (const target of targets) waiters.set(target, [...(waiters.get(target) ?? []), id])
  }
  const shapeOf = ({ id, job }: JobRecord) =>
    JSON.stringify([job, [...(waitsFor.get(id) ?? [])].sort(), [...(waiters.get(id) ?? [])].sort()])
  const stacks = new Map<string, JobRecord[]>()
  // Oldest first, so that what was created first is drawn first.
  for (const member of members.toReversed()) {
    const isAlone = (waitsFor.get(member.id)?.length ?? 0) + (waiters.get(member.id)?.length ?? 0) === 0
    const shape = isAlone ? member.id : shapeOf(member)
    stacks.set(shape, [...(stacks.get(shape) ?? []), member])
  }
  const groups = [...stacks.values()].flatMap((stack) => (stack.length >= smallestStack ? [stack] : stack.map((each) => [each])))
  const indexOf = new Map(groups.flatMap((stack, index) => stack.map(({ id }) => [id, index] as const)))
  const edges = new Map<string, readonly [number, number]>()
  for (const [id, targets] of waitsFor) {
    for (const target of targets) {
      const edge = [indexOf.get(target) as number, indexOf.get(id) as number] as const
      edges.set(edge.join(), edge)
    }
  }
  return { nodes: groups.map(nodeOf), edges: [...edges.values()] }
}

const smallestStack = 4

function nodeOf(stack: readonly JobRecord[]): GraphNode {
  const [first] = stack as readonly [JobRecord]
  const started = stack.flatMap(({ startedAt }) => startedAt ?? [])
  const ended = stack.flatMap(({ finishedAt }) => finishedAt ?? [])
  return {
    job: first.job,
    state: stateOf(stack),
    id: stack.length === 1 ? first.id : null,
    size: stack.length,
    done: stack.filter(({ finishedAt }) => finishedAt !== null).length,
    failed: stack.filter(({ state }) => state === 'dead').length,
    startedAt: started.length === 0 ? null : Math.min(...started),
    finishedAt: ended.length === stack.length ? Math.max(...ended) : null,
  }
}

/** A stack shows the state that matters most among its jobs. */
function stateOf(stack: readonly JobRecord[]): State {
  const order: readonly State[] = ['running', 'ready', 'scheduled', 'blocked', 'dead', 'cancelled', 'skipped', 'succeeded']
  return order.find((state) => stack.some((member) => member.state === state)) ?? 'succeeded'
}

/** A version 7 id begins with its creation time. */
function timeOf(id: string): number | null {
  const ms = Number.parseInt(id.replace('-', '').slice(0, 12), 16)
  return Number.isNaN(ms) ? null : ms
}
