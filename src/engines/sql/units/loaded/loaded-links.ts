import { readDoom, readEnding } from '../../../../queue/model/spoilt.ts'
import { Edges } from '../../../../queue/rules/workflows/edges.ts'
import { type Doom, EdgeList, type Ending, type StoredEdge, type StoredLinks } from '../../../../queue/rules/workflows/links.ts'
import { LoadedMap } from '../../../../queue/units/loaded-map.ts'
import { childKey, type Edge, storedEdge } from '../../workflows/edges.ts'
import type { WorkflowPlace } from '../../workflows/places.ts'
import type { LoadedRows } from '../reading/loaded-rows.ts'
import { childNeed } from '../reading/needs.ts'

/** All edges that a unit has loaded or added, each once, and which of them wait for which job. */
export class LoadedEdges extends Edges {
  readonly #rows: LoadedRows
  readonly #byNumber = new Map<number, { readonly row: Edge; readonly edge: StoredEdge }>()
  readonly #numbers = new Map<StoredEdge, number>()
  /** In order of creation. */
  readonly added = new Set<StoredEdge>()
  /** The jobs that wait for none of their edges any more. */
  readonly detached = new Set<string>()
  readonly dropped = new Set<number>()
  readonly #addedTo = new Map<string, Set<StoredEdge>>()
  /** Edges that wait for nothing any more, and jobs all of whose edges were told of their end. */
  readonly #closed = new Set<StoredEdge>()
  readonly #told = new Set<string>()
  readonly #deleted = new Set<string>()

  constructor(rows: LoadedRows) {
    super()
    this.#rows = rows
  }

  /** Those that the rules may have changed, with their rows. */
  get loaded(): Iterable<{ readonly row: Edge; readonly edge: StoredEdge }> {
    return this.#byNumber.values()
  }

  of(rows: readonly Edge[]): readonly StoredEdge[] {
    return rows.map((row) => this.#edgeOf(row)).filter((edge) => !this.#isDropped(edge))
  }

  /** Whether a job has begun to wait for this one, for the first time or again. */
  isNewTarget(id: string): boolean {
    return this.#addedTo.has(id)
  }

  drop(edge: StoredEdge): void {
    const number = this.#numbers.get(edge)
    if (number === undefined) this.added.delete(edge)
    else this.dropped.add(number)
  }

  detach(waiter: string): void {
    this.detached.add(waiter)
    for (const { edge } of this.#byNumber.values()) if (edge.waiterId === waiter) edge.waiting = false
  }

  override add(edge: StoredEdge): void {
    this.#closed.delete(edge)
    const edges = this.#addedTo.get(edge.id) ?? new Set()
    this.#addedTo.set(edge.id, edges.add(edge))
  }

  override has(id: string): boolean {
    return this.on(id).length > 0
  }

  override on(id: string): readonly StoredEdge[] {
    const stored = this.#mayBeAwaited(id) ? this.of(this.#rows.edges('edgesTo', id)) : []
    const edges = new Set([...stored, ...(this.#addedTo.get(id) ?? [])])
    return [...edges].filter((edge) => !this.#closed.has(edge) && !this.#deleted.has(edge.waiterId))
  }

  override take(id: string): readonly StoredEdge[] {
    const edges = this.on(id)
    for (const edge of edges) this.#closed.add(edge)
    this.#told.add(id)
    return edges
  }

  override remove(edge: StoredEdge): void {
    this.#closed.add(edge)
  }

  /** They are deleted with the job, without being read. */
  override removeAll(edges: EdgeList): void {
    if (edges instanceof LoadedEdgeList) this.#deleted.add(edges.waiter)
    else super.removeAll(edges)
  }

  /** Nothing waits for a job that is not linked, nor for one that this unit stores. */
  #mayBeAwaited(id: string): boolean {
    return !this.#told.has(id) && this.#rows.job(id)?.linked === 1
  }

  #isDropped(edge: StoredEdge): boolean {
    return this.dropped.has(this.#numbers.get(edge) as number)
  }

  #edgeOf(row: Edge): StoredEdge {
    const known = this.#byNumber.get(row.edge)
    if (known !== undefined) return known.edge
    const edge = storedEdge(row)
    if (this.detached.has(edge.waiterId)) edge.waiting = false
    this.#byNumber.set(row.edge, { row, edge })
    this.#numbers.set(edge, row.edge)
    return edge
  }
}

/** The edges of one job. Only those that a rule needs are read. */
export class LoadedEdgeList extends EdgeList {
  readonly waiter: string
  readonly #place: WorkflowPlace | null
  readonly #rows: LoadedRows
  readonly #edges: LoadedEdges
  readonly #added: StoredEdge[] = []

  /** `place`: null for a job that has no edges yet. */
  constructor(waiter: string, place: WorkflowPlace | null, rows: LoadedRows, edges: LoadedEdges) {
    super()
    this.waiter = waiter
    this.#place = place
    this.#rows = rows
    this.#edges = edges
  }

  override get all(): readonly StoredEdge[] {
    return [...this.#stored(), ...this.#added]
  }

  override get awaited(): readonly StoredEdge[] {
    const stored = this.#isWhole ? this.#stored() : this.#edges.of(this.#rows.edges('awaited', this.waiter))
    return [...stored, ...this.#added].filter(({ waiting }) => waiting)
  }

  override get rescues(): readonly StoredEdge[] {
    const mayHave = this.#place?.stands_in === 1
    const stored = mayHave && !this.#isWhole ? this.#edges.of(this.#rows.edges('rescues', this.waiter)) : []
    const known = mayHave && this.#isWhole ? this.#stored() : stored
    return [...known, ...this.#added].filter(({ policy }) => policy === 'rescue')
  }

  override detach(): void {
    this.#edges.detach(this.waiter)
    for (const edge of this.#added) edge.waiting = false
  }

  override add(edge: StoredEdge): void {
    this.#added.push(edge)
    this.#edges.added.add(edge)
  }

  override keep(isKept: (edge: StoredEdge) => boolean): void {
    for (const edge of this.all) if (!isKept(edge)) this.#edges.drop(edge)
  }

  get hasNewRescues(): boolean {
    return this.#added.some(({ policy }) => policy === 'rescue')
  }

  get #isWhole(): boolean {
    return this.#place === null || this.#rows.hasEdges('edgesOf', this.waiter)
  }

  #stored(): readonly StoredEdge[] {
    return this.#place === null ? [] : this.#edges.of(this.#rows.edges('edgesOf', this.waiter))
  }
}

/** A job's edges to its children. A single one is found by its key, all of them through the list. */
class LoadedChildren extends LoadedMap<string, StoredEdge> {
  readonly #list: LoadedEdgeList
  #isWhole = false

  constructor(list: LoadedEdgeList, load: (key: string) => StoredEdge | undefined) {
    super(load)
    this.#list = list
  }

  override [Symbol.iterator](): MapIterator<[string, StoredEdge]> {
    if (!this.#isWhole)
      for (const edge of this.#list.all) if (edge.key !== null && !this.isKnown(edge.key)) this.set(edge.key, edge)
    this.#isWhole = true
    return super[Symbol.iterator]()
  }
}

/** A place as it was loaded: the rules change `links`. */
export interface LoadedPlace {
  readonly place: WorkflowPlace | null
  readonly links: StoredLinks
  readonly doom: Doom | null
  readonly ending: Ending | null
}

export function loadedPlace(place: WorkflowPlace, rows: LoadedRows, edges: LoadedEdges): LoadedPlace {
  const links = new LoadedLinks(place, rows, edges)
  return { place, links, doom: links.doom, ending: links.ending }
}

class LoadedLinks implements StoredLinks {
  readonly root: string
  readonly parent: string | null
  longestWaitMs: number
  givesUpAt: number
  pending: number
  doom: Doom | null
  ending: Ending | null
  readonly edges: LoadedEdgeList
  readonly #childOf: (key: string) => StoredEdge | undefined
  #children: LoadedChildren | undefined

  constructor(place: WorkflowPlace, rows: LoadedRows, edges: LoadedEdges) {
    this.root = place.root
    this.parent = place.parent
    this.longestWaitMs = place.longest_wait_ms
    this.givesUpAt = place.gives_up_at ?? Number.POSITIVE_INFINITY
    // No dependency that ends may release the job by a count that is none: mending counts anew.
    this.pending = Number.isSafeInteger(place.pending) ? place.pending : Number.MAX_SAFE_INTEGER
    this.doom = place.doom === null ? null : readDoom(place.doom)
    this.ending = place.ending === null ? null : readEnding(place.ending)
    this.edges = new LoadedEdgeList(place.id, place, rows, edges)
    this.#childOf = (key) => edges.of(rows.edges('child', childNeed(place.id, childKey(key)).name))[0]
  }

  get children(): Map<string, StoredEdge> {
    this.#children ??= new LoadedChildren(this.edges, this.#childOf)
    return this.#children
  }
}

/** The edges of a job that gets its place in a workflow now. One from another queue comes with edges. */
export function newPlace(id: string, links: StoredLinks, rows: LoadedRows, edges: LoadedEdges): LoadedPlace {
  const list = new LoadedEdgeList(id, null, rows, edges)
  for (const edge of links.edges.all) list.add(edge)
  return { place: null, links: Object.assign(links, { edges: list }), doom: null, ending: null }
}
