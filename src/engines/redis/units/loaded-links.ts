import { readDoom, readEnd, readEnding } from '../../../queue/model/spoilt.ts'
import {
  type Doom,
  doomOf,
  EdgeList,
  type Ending,
  type StoredEdge,
  type StoredLinks,
} from '../../../queue/rules/workflows/links.ts'
import { isFailurePolicy } from '../../../queue/rules/workflows/waiting.ts'
import { LoadedMap } from '../../../queue/units/loaded-map.ts'
import type { Rows } from './rows.ts'
import { finiteOr, partsIn, textIn, textOrNull } from './stored-text.ts'

/** An edge is named after the waiting job and either the child's key or the job it waits for; there is only one of each. */
export function edgeName({ waiterId, id, key }: Pick<StoredEdge, 'waiterId' | 'id' | 'key'>): string {
  return key === null ? `${waiterId}\nd\n${id}` : `${waiterId}\nc\n${key}`
}

export function edgeText({ waiterId, id, job, key, policy, waiting, end }: StoredEdge, order: number): string {
  return JSON.stringify([waiterId, id, job, key, policy, waiting, end, order])
}

/** The job that a stored edge still waits for; null if that one has ended, or if the edge cannot be read. */
export function edgeTarget(text: string): string | null {
  const [, id, , , , , end] = partsIn(text)
  return end === null ? textOrNull(id) : null
}

/** An edge, which rules may change, and its text as it was loaded. */
export interface LoadedEdge {
  readonly edge: StoredEdge
  readonly text: string
  readonly order: number
}

/** All edges that a unit has loaded, each once. */
export class LoadedEdges {
  readonly #rows: Rows
  readonly #byName = new Map<string, LoadedEdge>()
  readonly removed = new Set<StoredEdge>()

  constructor(rows: Rows) {
    this.#rows = rows
  }

  get all(): Iterable<readonly [string, LoadedEdge]> {
    return this.#byName
  }

  get(name: string): StoredEdge | undefined {
    const known = this.#byName.get(name)
    if (known !== undefined) return known.edge
    const text = this.#rows.field('e', name)
    if (text === null) return undefined
    const [waiterId, id, job, key, policy, waiting, end, order] = partsIn(text)
    if (typeof waiterId !== 'string' || typeof id !== 'string') return undefined
    const [policyIn, endIn] = [isFailurePolicy(policy) ? policy : 'fail', readEnd(end)] as const
    const edge = {
      waiterId,
      id,
      job: textOrNull(job),
      key: textOrNull(key),
      policy: policyIn,
      waiting: waiting === true,
      end: endIn,
    }
    this.#byName.set(name, { edge, text, order: finiteOr(order, 0) })
    return edge
  }
}

/** The edges of one job, loaded when all of them are needed. */
export class LoadedEdgeList extends EdgeList {
  readonly #rows: Rows
  readonly #edges: LoadedEdges
  readonly #waiter: string
  #kept: StoredEdge[] | undefined
  readonly added: StoredEdge[] = []

  constructor(rows: Rows, edges: LoadedEdges, waiter: string) {
    super()
    this.#rows = rows
    this.#edges = edges
    this.#waiter = waiter
  }

  get all(): readonly StoredEdge[] {
    return [...this.stored, ...this.added]
  }

  add(edge: StoredEdge): void {
    this.added.push(edge)
  }

  keep(isKept: (edge: StoredEdge) => boolean): void {
    const stored = this.stored
    for (const edge of stored) if (!isKept(edge)) this.#edges.removed.add(edge)
    this.#kept = stored.filter(isKept)
  }

  /** The edges that are already stored. */
  get stored(): readonly StoredEdge[] {
    if (this.#kept !== undefined) return this.#kept
    const names = this.#rows.range(`ew:${this.#waiter}`)
    this.#rows.want(names.map((name) => ({ kind: 'field', table: 'e', field: name })))
    this.#kept = names.flatMap((name) => this.#edges.get(name) ?? [])
    return this.#kept
  }
}

/** A job's edges to its children. A single one is found by its key, all of them through the list. */
class LoadedChildren extends LoadedMap<string, StoredEdge> {
  readonly #list: LoadedEdgeList
  #isWhole = false

  constructor(edges: LoadedEdges, list: LoadedEdgeList, waiter: string) {
    super((key) => edges.get(`${waiter}\nc\n${key}`))
    this.#list = list
  }

  override [Symbol.iterator](): MapIterator<[string, StoredEdge]> {
    if (!this.#isWhole) for (const { key } of this.#list.all) if (key !== null) this.get(key)
    this.#isWhole = true
    return super[Symbol.iterator]()
  }
}

/** The workflow that a stored place belongs to; empty if the place cannot be read. */
export function placeRoot(text: string): string {
  return textIn(partsIn(text)[0])
}

/** A place in a workflow, and how many edges the job had when it was loaded. */
export interface LoadedPlace {
  readonly links: StoredLinks
  readonly text: string
  readonly givesUpAt: number
  readonly edgeCount: number
}

export function loadedPlace(text: string, waiter: string, rows: Rows, edges: LoadedEdges): LoadedPlace {
  const [root, parent, ...rest] = partsIn(text)
  const [longestWaitMs, givesUpAt, pending, doom, ending, edgeCount] = rest
  const list = new LoadedEdgeList(rows, edges, waiter)
  const children = new LoadedChildren(edges, list, waiter)
  const links: StoredLinks = {
    root: textOrNull(root) ?? waiter,
    parent: textOrNull(parent),
    longestWaitMs: finiteOr(longestWaitMs, 0),
    givesUpAt: finiteOr(givesUpAt, 0),
    pending: finiteOr(pending, 0),
    doom: doomIn(doom, edges),
    ending: ending === null || ending === undefined ? null : readEnding(JSON.stringify(ending)),
    edges: list,
    children,
  }
  return { links, text, givesUpAt: links.givesUpAt, edgeCount: finiteOr(edgeCount, 0) }
}

/** Earlier versions stored the name of the edge. */
function doomIn(stored: unknown, edges: LoadedEdges): Doom | null {
  if (stored === null || stored === undefined) return null
  const edge = typeof stored === 'string' ? edges.get(stored) : undefined
  return edge?.end == null ? readDoom(JSON.stringify(stored)) : doomOf(edge)
}

export function placeText(links: StoredLinks, edgeCount: number): string {
  const { root, parent, longestWaitMs, givesUpAt, pending, doom, ending } = links
  const parts: readonly [string, string | null, number, number, number, Doom | null, Ending | null, number] = [
    root,
    parent,
    longestWaitMs,
    givesUpAt,
    pending,
    doom,
    ending,
    edgeCount,
  ]
  return JSON.stringify(parts)
}

/** Knows whether anything waits for a job without loading the edges. */
export class LoadedTargets extends LoadedMap<string, Set<StoredEdge>> {
  readonly #isAwaited: (id: string) => boolean

  constructor(load: (id: string) => Set<StoredEdge> | undefined, isAwaited: (id: string) => boolean) {
    super(load)
    this.#isAwaited = isAwaited
  }

  override has(id: string): boolean {
    return this.isKnown(id) ? super.has(id) : this.#isAwaited(id)
  }
}
