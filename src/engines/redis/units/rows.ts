import { createHash } from 'node:crypto'
import type { RedisServer } from '../connections/server.ts'
import { field, jobNeeds, Missing, type Need, nameOf, range } from './needs.ts'
import { finiteOr, partsIn } from './stored-text.ts'

/** A text, nothing, or the members of a sorted set or a list. */
type Stored = string | null | readonly string[]

/** So far the jobs that wait for each other are loaded ahead, each time that a rule asks for more of them. */
const farthest = 64
/** Of more edges than this, those that they lead on to are not loaded ahead. */
const mostAhead = 20_000

/**
 * What one try of a unit has loaded. A rule reads from here and nowhere else, and what it has read is compared with what is stored
 * when its changes are committed.
 */
export class Rows {
  readonly #server: RedisServer
  readonly #stored = new Map<string, Stored>()
  #touched = new Map<string, Need>()
  #stepsAhead = 1

  constructor(server: RedisServer) {
    this.#server = server
  }

  /** The rule runs from its start: what it has read before is of no account. */
  begin(): void {
    this.#touched = new Map()
  }

  field(table: string, name: string): string | null {
    return this.#read({ kind: 'field', table, field: name }) as string | null
  }

  text(key: string): string | null {
    return this.#read({ kind: 'text', key }) as string | null
  }

  range(key: string, start = 0, stop = -1): readonly string[] {
    return this.#read({ kind: 'range', key, start, stop }) as readonly string[]
  }

  list(key: string): readonly string[] {
    return this.#read({ kind: 'list', key }) as readonly string[]
  }

  head(id: string): string | null {
    const need = field('h', id)
    if (!this.#stored.has(nameOf(need))) throw new Missing(jobNeeds(id))
    return this.#read(need) as string | null
  }

  /** Without a claim that it stays as it is. */
  peek(need: Need): Stored | undefined {
    return this.#stored.get(nameOf(need))
  }

  /** Loads all of these at once where one of them is not there. */
  want(needs: readonly Need[]): void {
    const missing = needs.filter((need) => !this.#stored.has(nameOf(need)))
    if (missing.length > 0) throw new Missing(missing)
  }

  /** What the rule has read, and what that was. */
  get touched(): readonly (readonly [Need, Stored])[] {
    return [...this.#touched.values()].map((need) => [need, this.#stored.get(nameOf(need)) ?? null])
  }

  /** Who waits by edges that are asked for is told of an end: what that takes is loaded ahead, a few steps far at first. */
  async load(needs: readonly Need[]): Promise<void> {
    await this.#fetch(needs)
    let edges: readonly string[] = needs.flatMap((need) => (need.kind === 'field' && need.table === 'e' ? [need.field] : []))
    for (let step = 0; step < this.#stepsAhead && edges.length > 0 && edges.length < mostAhead; step++) {
      edges = await this.#fetchWaiters(edges)
    }
    if (edges.length > 0) this.#stepsAhead = Math.min(2 * this.#stepsAhead, farthest)
  }

  async #fetch(needs: readonly Need[]): Promise<void> {
    const missing = [...new Map(needs.map((need) => [nameOf(need), need])).values()].filter(
      (need) => !this.#stored.has(nameOf(need)),
    )
    if (missing.length === 0) return
    const answers = await this.#server.read(missing)
    for (const [index, need] of missing.entries()) this.#stored.set(nameOf(need), answers[index] ?? null)
  }

  /** Those who wait, all that those wait for who may go on now, and the edges that lead to those. */
  async #fetchWaiters(edges: readonly string[]): Promise<readonly string[]> {
    const told = new Map<string, number>()
    for (const edge of edges) told.set(waiterOf(edge), (told.get(waiterOf(edge)) ?? 0) + 1)
    const waiters = [...told.keys()]
    const further = waiters.map((id) => range(`et:${id}`))
    await this.#fetch([...waiters.flatMap(jobNeeds), ...further])
    const mayGoOn = waiters.filter((id) => pendingOf(this.peek(field('p', id))) <= (told.get(id) ?? 0))
    const own = mayGoOn.map((id) => range(`ew:${id}`))
    await this.#fetch(own)
    const next = further.flatMap((need) => this.#members(need))
    const all = [...own.flatMap((need) => this.#members(need)), ...next]
    await this.#fetch(all.map((edge) => field('e', edge)))
    return next
  }

  #members(need: Need): readonly string[] {
    return (this.peek(need) as readonly string[] | null | undefined) ?? []
  }

  #read(need: Need): Stored {
    const name = nameOf(need)
    const stored = this.#stored.get(name)
    if (stored === undefined) throw new Missing([need])
    this.#touched.set(name, need)
    return stored
  }
}

/** Edges are called by the job that waits, and by what it waits for. */
export function waiterOf(edge: string): string {
  return edge.slice(0, edge.indexOf('\n'))
}

const longestCompared = 64

/** How a script finds out that a text is still the same: itself where it is short, else its digest. */
export function expectation(stored: string | null): string {
  if (stored === null) return ''
  return stored.length <= longestCompared ? `=${stored}` : `#${createHash('sha1').update(stored).digest('hex')}`
}

/** How many edges a job waits for, by what is stored of its place in a workflow. */
function pendingOf(place: Stored | undefined): number {
  return typeof place === 'string' ? finiteOr(partsIn(place)[4], 0) : 0
}
