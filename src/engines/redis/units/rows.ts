import { createHash } from 'node:crypto'
import { Missing } from '../../../queue/units/missing.ts'
import type { RedisServer } from '../connections/server.ts'
import { field, jobNeeds, type Need, nameOf, range } from './needs.ts'
import { finiteOr, partsIn } from './stored-text.ts'

/** A text, null, or the members of a sorted set or list. */
type Stored = string | null | readonly string[]

const headPrefix = nameOf(field('h', ''))
/** Maximum number of steps along chains of waiting jobs to load ahead, each time a rule needs more of them. */
const farthest = 64
/** With this many edges or more, what lies beyond them is not loaded ahead. */
const mostAhead = 20_000

/**
 * What one attempt of a unit has loaded. Rules read only from here, and the commit compares what they have read with what is
 * stored.
 */
export class Rows {
  readonly #server: RedisServer
  readonly #stored = new Map<string, Stored>()
  #touched = new Map<string, Need>()
  #stepsAhead = 1

  constructor(server: RedisServer) {
    this.#server = server
  }

  /** Call when a rule starts over: what it read before does not count. */
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

  /** Reads without having the commit check that the value is unchanged. */
  peek(need: Need): Stored | undefined {
    return this.#stored.get(nameOf(need))
  }

  /** The texts of all jobs that have been loaded. */
  get heads(): readonly string[] {
    return [...this.#stored].flatMap(([name, text]) => (name.startsWith(headPrefix) && typeof text === 'string' ? [text] : []))
  }

  /** Loads all of these at once if any of them is missing. */
  want(needs: readonly Need[]): void {
    const missing = needs.filter((need) => !this.#stored.has(nameOf(need)))
    if (missing.length > 0) throw new Missing(missing)
  }

  /** What the rule has read, with its values. */
  get touched(): readonly (readonly [Need, Stored])[] {
    return [...this.#touched.values()].map((need) => [need, this.#stored.get(nameOf(need)) ?? null])
  }

  /**
   * Jobs that wait by a requested edge are about to be notified of an end. What that needs is loaded ahead, a few steps at first.
   */
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

  /**
   * Loads the waiting jobs, the edges of those that may now continue, and the edges of jobs that wait for any of them. Returns
   * the latter.
   */
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

/** An edge's name begins with the id of the waiting job. */
export function waiterOf(edge: string): string {
  return edge.slice(0, edge.indexOf('\n'))
}

const longestCompared = 64

/** How a script checks that a text is unchanged: by the text itself if it is short, otherwise by its digest. */
export function expectation(stored: string | null): string {
  if (stored === null) return ''
  return stored.length <= longestCompared ? `=${stored}` : `#${createHash('sha1').update(stored).digest('hex')}`
}

/** How many edges a job waits for, according to its stored place in a workflow. */
function pendingOf(place: Stored | undefined): number {
  return typeof place === 'string' ? finiteOr(partsIn(place)[4], 0) : 0
}
