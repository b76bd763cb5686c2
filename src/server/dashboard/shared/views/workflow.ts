import type { Counts, Searched, State } from './job.ts'

export interface WorkflowRow {
  readonly root: string
  readonly name: string
  readonly total: number
  readonly counts: Counts
  readonly startedAt: number
  readonly newestJobAt: number
}

export interface WorkflowPage {
  readonly workflows: readonly WorkflowRow[]
  readonly next: string | null
  readonly searched: Searched
}

export interface WorkflowView {
  readonly root: string
  readonly name: string
  readonly total: number
  readonly counts: Counts
  readonly startedAt: number
  readonly endedAt: number | null
  readonly nodes: readonly GraphNode[]
  /** From a dependency to the node that waits for it, as indices of nodes. */
  readonly edges: readonly (readonly [from: number, to: number])[]
  /** Whether some of its jobs are not shown. */
  readonly cut: boolean
}

/** One job, or several that differ only in their ids. */
export interface GraphNode {
  readonly job: string
  readonly state: State | 'missing'
  /** Null if it stands for several jobs. */
  readonly id: string | null
  readonly size: number
  readonly done: number
  readonly failed: number
  readonly startedAt: number | null
  readonly finishedAt: number | null
}
