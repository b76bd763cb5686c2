import { type FinalState, type JobState, zeroCounts } from '../../contract/job-state.ts'
import type { JobCount, JobLink } from '../../contract/store.ts'
import type { StoredJob } from '../jobs/job.ts'
import type { Jobs } from '../jobs/jobs.ts'
import type { Edges } from './edges.ts'
import { inLinkOrder, linkOf, type StoredLinks } from './links.ts'

export interface Tree {
  readonly jobs: Set<StoredJob>
  /** How the deleted jobs ended. */
  readonly gone: Record<JobState, number>
}

/** The jobs of each workflow. */
export class Trees {
  readonly #jobs: Jobs
  readonly #edges: Edges
  readonly #byRoot = new Map<string, Tree>()

  constructor(jobs: Jobs, edges: Edges) {
    this.#jobs = jobs
    this.#edges = edges
  }

  add(job: StoredJob, links: StoredLinks): void {
    job.links = links
    const tree = this.#byRoot.get(links.root) ?? { jobs: new Set(), gone: zeroCounts() }
    tree.jobs.add(job)
    this.#byRoot.set(links.root, tree)
  }

  /** How a deleted job ended is remembered as long as its workflow has other jobs. */
  forget(job: StoredJob & { readonly links: StoredLinks }, state: FinalState | null): void {
    const tree = this.#byRoot.get(job.links.root)
    if (tree === undefined) return
    tree.jobs.delete(job)
    if (state !== null) tree.gone[state]++
    if (tree.jobs.size === 0) this.#byRoot.delete(job.links.root)
  }

  /** Removes a job that moves to another queue. What is remembered of its workflow goes with the last of them. */
  takeOut(job: StoredJob & { readonly links: StoredLinks }): void {
    const tree = this.#byRoot.get(job.links.root)
    tree?.jobs.delete(job)
    if (tree?.jobs.size === 0) this.#byRoot.delete(job.links.root)
  }

  members(root: string): Iterable<StoredJob> {
    return this.treeOf(root)?.jobs ?? []
  }

  gone(root: string): Readonly<Record<JobState, number>> {
    return this.treeOf(root)?.gone ?? zeroCounts()
  }

  addGone(root: string, state: FinalState, jobs: number): void {
    const tree = this.#byRoot.get(root)
    if (tree !== undefined) tree.gone[state] += jobs
  }

  links(id: string): readonly JobLink[] {
    const edges = this.#jobs.get(id)?.links?.edges.all ?? []
    return inLinkOrder(edges.map((edge) => linkOf(edge, (target) => this.#jobs.get(target)?.state)))
  }

  counts(root: string): JobCount {
    const tree = this.treeOf(root)
    const counts = { ...zeroCounts(), ...tree?.gone }
    for (const { state } of tree?.jobs ?? []) counts[state]++
    return { queue: '', job: '', counts }
  }

  /** A job with everything it created and everything that waits for it, or all jobs of the workflow with this id. */
  family(id: string): readonly StoredJob[] {
    const first = this.#jobs.get(id)
    if (first === undefined) return [...(this.treeOf(id)?.jobs ?? [])]
    const found = new Set([first])
    for (const job of found) for (const relative of this.#relativesOf(job)) found.add(relative)
    return [...found]
  }

  protected treeOf(root: string): Tree | undefined {
    return this.#byRoot.get(root)
  }

  #relativesOf({ envelope, links }: StoredJob): readonly StoredJob[] {
    const children = links?.edges.all.filter(({ key }) => key !== null).map(({ id }) => id) ?? []
    const waiters = [...this.#edges.on(envelope.id)].filter(({ key }) => key === null).map(({ waiterId }) => waiterId)
    return [...children, ...waiters].flatMap((id) => this.#jobs.get(id) ?? [])
  }
}
