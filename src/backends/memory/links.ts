import type { FailurePolicy } from '../../envelope/envelope.ts'
import type { OnceMark } from '../contract.ts'
import type { JobState } from '../job-state.ts'
import type { JobLink } from '../store.ts'
import type { End } from '../waiting.ts'

/** A job's place in a workflow. */
export interface MemoryLinks {
  readonly root: string
  readonly parent: string | null
  longestWaitMs: number
  /** While it is blocked. */
  givesUpAt: number
  /** How many edges it waits for. */
  pending: number
  /** The edge that it will fail for when its handler has ended. */
  doom: MemoryEdge | null
  /** What its handler left to be done when its children have ended. */
  ending: Ending | null
  edges: MemoryEdge[]
  /** Those of its edges that lead to children. */
  readonly children: Map<string, MemoryEdge>
}

export interface Ending {
  readonly keep: boolean
  readonly once: OnceMark | null
}

/** One job waits for another. */
export interface MemoryEdge {
  readonly waiterId: string
  readonly id: string
  readonly job: string | null
  /** Null for a dependency. */
  readonly key: string | null
  readonly policy: FailurePolicy
  /** It counts in the `pending` of the one that waits. */
  waiting: boolean
  end: End | null
}

export function newLinks(root: string, parent: string | null, longestWaitMs: number): MemoryLinks {
  return { root, parent, longestWaitMs, givesUpAt: 0, pending: 0, doom: null, ending: null, edges: [], children: new Map() }
}

export function linkOf(edge: MemoryEdge, stateOf: (id: string) => JobState | undefined): JobLink {
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
