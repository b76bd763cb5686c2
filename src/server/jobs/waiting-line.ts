import { keyTest } from '../../queue/claiming/key-pattern.ts'
import type { Lease } from '../../queue/contract/contract.ts'
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
  /** What it waits for, whoever waits. */
  readonly choice: string
  readonly #waiters = new Set<Waiter>()
  #last = 0
  /** Something may be there for it. */
  isHopeful = true
  /** When something may be there next, as far as is known. */
  nextAt: number | null = null

  constructor(demand: Demand) {
    this.demand = demand
    this.choice = choiceKey(demand)
  }

  get isEmpty(): boolean {
    return this.#waiters.size === 0
  }

  /** Where its first waiter stands among those of all lines. */
  get head(): number {
    for (const { place } of this.#waiters) return place
    return Number.POSITIVE_INFINITY
  }

  /** Where its last waiter stands; 0 where it has none. */
  get last(): number {
    return this.isEmpty ? 0 : this.#last
  }

  add(waiter: Waiter): void {
    this.#waiters.add(waiter)
    this.#last = waiter.place
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

  /** Whether one of these names is among what it waits for. */
  wants(news: readonly string[]): boolean {
    const { names, keys } = this.demand
    return names === null ? news.some(keyTest(keys)) : news.some((name) => names.includes(name))
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

export function lineKey({ leaseMs, owner, ...choice }: Demand): string {
  return `${leaseMs} ${JSON.stringify(owner)} ${choiceKey(choice)}`
}

/** Where nothing is there for one line, nothing is there for the others with the same key. */
export function choiceKey({ pattern, queues, priority }: Pick<Demand, 'pattern' | 'queues' | 'priority'>): string {
  return JSON.stringify([pattern, queues, priority])
}
