import type { EdgeList, StoredEdge } from './links.ts'

/** Which jobs wait for which, indexed by the job that is waited for. */
export class Edges {
  readonly #byTarget: Map<string, Set<StoredEdge>>

  constructor(byTarget = new Map<string, Set<StoredEdge>>()) {
    this.#byTarget = byTarget
  }

  add(edge: StoredEdge): void {
    this.#byTarget.set(edge.id, (this.#byTarget.get(edge.id) ?? new Set()).add(edge))
  }

  has(id: string): boolean {
    return this.#byTarget.has(id)
  }

  /** The edges that were not notified of this job's end yet. */
  on(id: string): Iterable<StoredEdge> {
    return this.#byTarget.get(id) ?? []
  }

  /** Removes and returns them, to be notified now. */
  take(id: string): Iterable<StoredEdge> {
    const edges = this.on(id)
    this.#byTarget.delete(id)
    return edges
  }

  remove(edge: StoredEdge): void {
    const edges = this.#byTarget.get(edge.id)
    edges?.delete(edge)
    if (edges?.size === 0) this.#byTarget.delete(edge.id)
  }

  /** Removes all edges of a job that was deleted. */
  removeAll(edges: EdgeList): void {
    for (const edge of edges.all) this.remove(edge)
  }
}
