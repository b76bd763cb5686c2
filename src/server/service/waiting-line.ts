import type { Lease } from '../../backends/contract.ts'
import type { NameChoice } from './job-names.ts'

/** Jobs that somebody asks for. */
export interface Demand extends NameChoice {
  /** The choice as a text: those who ask with the same text are served by one claim. */
  readonly pattern: string
  /** Null is any. */
  readonly queues: readonly string[] | null
  /** Null is any. */
  readonly priority: number | null
  readonly leaseMs: number
  readonly owner: string
}

export interface Waiter {
  /** Rises with every waiter: who came first. */
  readonly place: number
  readonly limit: number
  /** Whether it stays when nothing is there. */
  readonly isPatient: boolean
  give(leases: readonly Lease[]): void
}

/** Those who wait for the same jobs, first come, first served. */
export class WaitingLine {
  readonly demand: Demand
  readonly #waiters = new Set<Waiter>()
  /** Something may be there for it. */
  isHopeful = true
  /** When something may be there next, as far as is known. */
  nextAt: number | null = null
  /** What was known of the names when it was last looked for. */
  tick = 0

  constructor(demand: Demand) {
    this.demand = demand
  }

  get isEmpty(): boolean {
    return this.#waiters.size === 0
  }

  /** Where its first waiter stands among those of all lines. */
  get head(): number {
    for (const { place } of this.#waiters) return place
    return Number.POSITIVE_INFINITY
  }

  add(waiter: Waiter): void {
    this.#waiters.add(waiter)
    this.isHopeful = true
  }

  remove(waiter: Waiter): void {
    this.#waiters.delete(waiter)
  }

  /** How many jobs those want who came before this place, but at least what the first one wants. */
  wantedBefore(place: number): number {
    let wanted = 0
    for (const waiter of this.#waiters) {
      if (wanted > 0 && waiter.place > place) break
      wanted += waiter.limit
    }
    return wanted
  }

  /** Each gets what it wants, in its turn; gives back what nobody was there for. */
  serve(leases: readonly Lease[]): readonly Lease[] {
    let served = 0
    for (const waiter of this.#waiters) {
      if (served >= leases.length) break
      const share = leases.slice(served, served + waiter.limit)
      served += share.length
      this.#waiters.delete(waiter)
      waiter.give(share)
    }
    return leases.slice(served)
  }

  /** Nothing is there: those who do not wait go. Those who came after `place` were not looked for. */
  disappoint(place: number): void {
    for (const waiter of this.#waiters) {
      if (waiter.isPatient || waiter.place > place) continue
      this.#waiters.delete(waiter)
      waiter.give([])
    }
  }

  /** Everybody goes. */
  close(): void {
    for (const waiter of this.#waiters) waiter.give([])
    this.#waiters.clear()
  }
}

export function lineKey({ pattern, queues, priority, leaseMs, owner }: Demand): string {
  return JSON.stringify([pattern, queues, priority, leaseMs, owner])
}
