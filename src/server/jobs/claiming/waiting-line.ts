import type { Lease } from '../../../queue/contract/contract.ts'
import { keyTest } from '../../../queue/rules/claiming/key-pattern.ts'
import type { NameChoice } from '../job-names.ts'

/** A request for jobs. */
export interface Demand extends NameChoice {
  /** The choice as text: requests with the same text are served by one claim. */
  readonly pattern: string
  /** Null means any. */
  readonly queues: readonly string[] | null
  /** Null means any. */
  readonly priority: number | null
  readonly leaseMs: number
  readonly owner: string
}

export interface Waiter {
  /** Increases with every waiter, in order of arrival. */
  readonly place: number
  readonly limit: number
  /** Whether it keeps waiting if there is nothing. */
  readonly isPatient: boolean
  give(leases: readonly Lease[]): void
}

/** Waiters for the same jobs, first come, first served. */
export class WaitingLine {
  readonly demand: Demand
  /** What it waits for, independent of who waits. */
  readonly choice: string
  /** Equal for lines that one claim can serve although they are for different jobs; null if this one needs a claim of its own. */
  readonly terms: string | null
  readonly #waiters = new Set<Waiter>()
  readonly #isWanted: (name: string) => boolean
  #last = 0
  /** Whether there may be jobs for it. */
  isHopeful = true
  /** Not claimed for before this time: the database has refused its claim. */
  refusedUntil = 0
  /** When the next job may become available, as far as is known. */
  nextAt: number | null = null

  constructor(demand: Demand) {
    this.demand = demand
    this.choice = choiceKey(demand)
    this.terms = termsOf(demand)
    const { names, keys } = demand
    this.#isWanted = names === null ? keyTest(keys) : (name) => names.includes(name)
  }

  get isEmpty(): boolean {
    return this.#waiters.size === 0
  }

  /** Position of its first waiter among those of all lines. */
  get head(): number {
    for (const { place } of this.#waiters) return place
    return Number.POSITIVE_INFINITY
  }

  /** Position of its last waiter; 0 if it has none. */
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

  /** Number of jobs wanted by its first waiter; 0 if it has none. */
  get firstWants(): number {
    return this.wantedBefore(0)
  }

  /** Number of jobs wanted by waiters up to this position, but at least what the first one wants. */
  wantedBefore(place: number): number {
    let wanted = 0
    for (const waiter of this.#waiters) {
      if (wanted > 0 && waiter.place > place) break
      wanted += waiter.limit
    }
    return wanted
  }

  /** Gives each waiter what it wants, in order. Returns the leases that are left over. */
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

  /** Whether it waits for one of these names. */
  wants(news: readonly string[]): boolean {
    return news.some(this.#isWanted)
  }

  /** Whether a lease that was claimed for another line could have been claimed for this one. */
  admits({ envelope: { job, queue, priority } }: Lease, { leaseMs, owner }: Demand): boolean {
    const { demand } = this
    if (demand.leaseMs !== leaseMs || demand.owner !== owner) return false
    if (demand.queues !== null && !demand.queues.includes(queue)) return false
    return (demand.priority === null || demand.priority === priority) && this.#isWanted(job)
  }

  /**
   * There is nothing: impatient waiters leave. Those that arrived after `place` stay, because they were not part of the check.
   */
  disappoint(place: number): void {
    for (const waiter of this.#waiters) {
      if (waiter.isPatient || waiter.place > place) continue
      this.#waiters.delete(waiter)
      waiter.give([])
    }
  }

  /** All waiters leave. */
  close(): void {
    for (const waiter of this.#waiters) waiter.give([])
    this.#waiters.clear()
  }
}

export function lineKey({ leaseMs, owner, ...choice }: Demand): string {
  return `${leaseMs} ${JSON.stringify(owner)} ${choiceKey(choice)}`
}

/** If there is nothing for one line, there is nothing for the others with the same key. */
function choiceKey({ pattern, queues, priority }: Pick<Demand, 'pattern' | 'queues' | 'priority'>): string {
  return JSON.stringify([pattern, queues, priority])
}

/** Everything but the names and patterns; null if those cannot be combined with others. */
function termsOf({ keys: [test, ...others], queues, priority, leaseMs, owner }: Demand): string | null {
  if (test === undefined || others.length > 0) return null
  return JSON.stringify([test.mark, test.marked, queues, priority, leaseMs, owner])
}
