import { type FinalState, type JobState, zeroCounts } from '../job-state.ts'
import type { JobLink, TreeCounts } from '../store.ts'
import type { Edges } from './edges.ts'
import type { MemoryJob } from './job.ts'
import type { Jobs } from './jobs.ts'
import { linkOf, type MemoryLinks } from './links.ts'

interface Tree {
  readonly jobs: Set<MemoryJob>
  /** How those ended that are deleted. */
  readonly gone: Record<JobState, number>
}

/** All jobs of a workflow together. */
export class Trees {
  readonly #jobs: Jobs
  readonly #edges: Edges
  readonly #byRoot = new Map<string, Tree>()

  constructor(jobs: Jobs, edges: Edges) {
    this.#jobs = jobs
    this.#edges = edges
  }

  add(job: MemoryJob, links: MemoryLinks): void {
    job.links = links
    const tree = this.#byRoot.get(links.root) ?? { jobs: new Set(), gone: zeroCounts() }
    tree.jobs.add(job)
    this.#byRoot.set(links.root, tree)
  }

  /** How a job ended that is deleted is remembered as long as others of its workflow are there. */
  forget(job: MemoryJob & { readonly links: MemoryLinks }, state: FinalState | null): void {
    const tree = this.#byRoot.get(job.links.root)
    if (tree === undefined) return
    tree.jobs.delete(job)
    if (state !== null) tree.gone[state]++
    if (tree.jobs.size === 0) this.#byRoot.delete(job.links.root)
  }

  links(id: string): readonly JobLink[] {
    const edges = this.#jobs.get(id)?.links?.edges ?? []
    const links = edges.map((edge) => linkOf(edge, (target) => this.#jobs.get(target)?.state))
    return [...links.filter(({ kind }) => kind === 'dependency'), ...links.filter(({ kind }) => kind === 'child')]
  }

  counts(root: string): TreeCounts {
    const tree = this.#byRoot.get(root)
    const counts = { ...zeroCounts(), ...tree?.gone }
    for (const { state } of tree?.jobs ?? []) counts[state]++
    return { total: Object.values(counts).reduce((sum, count) => sum + count, 0), counts }
  }

  /** A job with everything that it made and everything that waits for it, or all jobs of the workflow that has this id. */
  family(id: string): readonly MemoryJob[] {
    const first = this.#jobs.get(id)
    if (first === undefined) return [...(this.#byRoot.get(id)?.jobs ?? [])]
    const found = new Set([first])
    for (const job of found) for (const relative of this.#relativesOf(job)) found.add(relative)
    return [...found]
  }

  #relativesOf({ envelope, links }: MemoryJob): readonly MemoryJob[] {
    const children = links?.edges.filter(({ key }) => key !== null).map(({ id }) => id) ?? []
    const waiters = [...this.#edges.on(envelope.id)].filter(({ key }) => key === null).map(({ waiterId }) => waiterId)
    return [...children, ...waiters].flatMap((id) => this.#jobs.get(id) ?? [])
  }
}
