import type { StoredEdge } from './links.ts'

/** Who waits for whom, found by the one that is waited for. */
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

  /** Those that have not been told of this job's end. */
  on(id: string): Iterable<StoredEdge> {
    return this.#byTarget.get(id) ?? []
  }

  /** The same, to be told now. */
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
}
