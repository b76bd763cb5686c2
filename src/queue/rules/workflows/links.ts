import type { FailurePolicy } from '../../../envelope/envelope.ts'
import type { OnceMark } from '../../contract/contract.ts'
import type { JobState } from '../../contract/job-state.ts'
import type { JobLink } from '../../contract/store.ts'
import { type End, failureText } from './waiting.ts'

/** A job's place in a workflow. */
export interface StoredLinks {
  readonly root: string
  readonly parent: string | null
  longestWaitMs: number
  /** Set while it is blocked. */
  givesUpAt: number
  /** Number of edges it waits for. */
  pending: number
  /** Why it will be failed or skipped when its handler has finished. */
  doom: Doom | null
  /** How to end the job once its children have ended: its handler has already finished. */
  ending: Ending | null
  readonly edges: EdgeList
  /** The edges that lead to children. */
  readonly children: Map<string, StoredEdge>
}

/** The edges of one job, in the order in which they were added. An engine may read some of them without reading all. */
export abstract class EdgeList {
  abstract readonly all: readonly StoredEdge[]
  abstract add(edge: StoredEdge): void
  /** Drops all other edges. */
  abstract keep(isKept: (edge: StoredEdge) => boolean): void

  get awaited(): readonly StoredEdge[] {
    return this.all.filter(({ waiting }) => waiting)
  }

  /** The edges to jobs that it stands in for if they fail. */
  get rescues(): readonly StoredEdge[] {
    return this.all.filter(({ policy }) => policy === 'rescue')
  }

  /** The job waits for none of them any more. */
  detach(): void {
    for (const edge of this.all) edge.waiting = false
  }
}

class PlainEdgeList extends EdgeList {
  all: StoredEdge[] = []

  add(edge: StoredEdge): void {
    this.all.push(edge)
  }

  keep(isKept: (edge: StoredEdge) => boolean): void {
    this.all = this.all.filter(isKept)
  }
}

/** What an edge does to a job whose handler has not finished yet. */
export interface Doom {
  readonly isSkipped: boolean
  readonly why: string
}

export function doomOf({ end, ...edge }: StoredEdge): Doom {
  return { isSkipped: edge.policy === 'skip', why: failureText({ ...edge, ...(end as End) }) }
}

export interface Ending {
  readonly keep: boolean
  readonly once: OnceMark | null
}

/** One job waits for another. */
export interface StoredEdge {
  readonly waiterId: string
  readonly id: string
  readonly job: string | null
  /** Null for a dependency. */
  readonly key: string | null
  readonly policy: FailurePolicy
  /** Whether it counts in the waiting job's `pending`. */
  waiting: boolean
  end: End | null
}

export function newLinks(root: string, parent: string | null, longestWaitMs: number): StoredLinks {
  const nothing = { givesUpAt: 0, pending: 0, doom: null, ending: null }
  return { root, parent, longestWaitMs, ...nothing, edges: new PlainEdgeList(), children: new Map() }
}

/** As they are shown: dependencies in their order, then children in the order of their creation. */
export function inLinkOrder(links: readonly JobLink[]): readonly JobLink[] {
  return [...links.filter(({ kind }) => kind === 'dependency'), ...links.filter(({ kind }) => kind === 'child')]
}

export function linkOf(edge: StoredEdge, stateOf: (id: string) => JobState | undefined): JobLink {
  return {
    kind: edge.key === null ? 'dependency' : 'child',
    id: edge.id,
    job: edge.job,
    key: edge.key,
    onFailure: edge.policy,
    state: edge.end?.state ?? stateOf(edge.id) ?? 'missing',
    waiting: edge.waiting,
    result: edge.end?.result ?? null,
    seal: edge.end?.seal ?? null,
    error: edge.end?.error ?? null,
  }
}
