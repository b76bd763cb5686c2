import { isSuccess } from '../waiting.ts'
import { type Edge, type Edges, type KnownEdge, linkOf } from './edges.ts'
import type { Endings } from './endings.ts'
import { stateNumber } from './schema.ts'
import type { Waiter, Waiters } from './waiters.ts'

export interface MendingParts {
  readonly edges: Edges
  readonly waiters: Waiters
  readonly endings: Endings
}

/** Blocked jobs that seem to wait in vain. */
export interface Suspects {
  readonly looked: number
  readonly seqs: readonly number[]
}

const fromTheStart = { gives_up_at: -1, seq: -1 }

/** Sets right what a job waits for: where the tables were broken, and where somebody put a job back. */
export class Mending {
  readonly #parts: MendingParts
  #last = fromTheStart

  constructor(parts: MendingParts) {
    this.#parts = parts
  }

  /** Changes nothing: most often there is nothing to change. Those who give up first come first. */
  look(limit: number): Suspects {
    const { gives_up_at, seq } = this.#last
    const rows = this.#parts.waiters.after(gives_up_at, seq, limit)
    this.#last = rows.length < limit ? fromTheStart : (rows.at(-1) ?? fromTheStart)
    return { looked: rows.length, seqs: rows.filter(({ isInVain }) => isInVain === 1).map((row) => row.seq) }
  }

  /** Gives the number of those that needed it: what was seen may have changed since. */
  mend(seqs: readonly number[], now: number): number {
    return seqs.filter((seq) => this.#mendOne(seq, now)).length
  }

  /** A job that was put back waits again for those of its dependencies that live again. Children that failed are made anew. */
  relink(seq: number, now: number): void {
    const { edges, waiters } = this.#parts
    const waiter = waiters.find(seq)
    if (waiter === undefined) return
    let [dependencies, children] = [0, 0]
    for (const edge of edges.of(seq)) {
      if (edge.state !== null && edge.state <= stateNumber.running) {
        edges.reopen(edge.edge)
        if (edge.key === null) dependencies++
        else children++
      } else this.#reconsider(edge, now)
    }
    waiters.doom(waiter, null)
    waiters.expect(waiter, dependencies + children)
    if (dependencies > 0) waiters.block(waiter, null, now)
  }

  #reconsider(edge: KnownEdge, now: number): void {
    const { edges, endings } = this.#parts
    // Not waited for any more, or its end would be told to the job that was just put back.
    if (edge.state !== null || edge.outcome === null) endings.resolve({ ...edge, waiting: 0 }, now, edge.seal)
    const { key, result, state } = linkOf(edges.get(edge.edge))
    if (key !== null && !isSuccess({ state: state as Parameters<typeof isSuccess>[0]['state'], result })) edges.drop(edge.edge)
  }

  #mendOne(seq: number, now: number): boolean {
    const { edges, endings, waiters } = this.#parts
    const awaited = edges.of(seq).filter(({ waiting }) => waiting === 1)
    const over = awaited.filter(isOver)
    for (const edge of over) endings.resolve(edge, now)
    const waiter = waiters.find(seq)
    if (waiter === undefined || waiter.state !== stateNumber.blocked) return over.length > 0
    const pending = awaited.length - over.length
    if (waiter.pending === pending && pending > 0) return over.length > 0
    waiters.expect(waiter, pending)
    if (pending === 0) endings.allEnded(waiter as Waiter, now)
    return true
  }
}

function isOver({ state }: Edge & Pick<KnownEdge, 'state'>): boolean {
  return state === null || state > stateNumber.running
}
