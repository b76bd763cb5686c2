import type { Lease } from '../backends/contract.ts'
import { Prefetch } from './prefetch.ts'

/** Leases that wait for a free hand in this worker, in the order in which they came. */
export class LeaseBuffer {
  readonly #prefetch: Prefetch
  #leases: Lease[] = []
  #next = 0

  constructor(concurrency: number, mostAhead: number) {
    this.#prefetch = new Prefetch(concurrency, mostAhead)
  }

  get size(): number {
    return this.#leases.length - this.#next
  }

  get isPrefetching(): boolean {
    return this.#prefetch.ahead > 0
  }

  /** How many to ask for while `free` hands have nothing to do: none while enough wait here, so that they come in batches. */
  wanted(free: number): number {
    const { ahead } = this.#prefetch
    return this.size > ahead / 2 ? 0 : free + ahead - this.size
  }

  /** They wait for longer than they should. */
  get isOverdue(): boolean {
    return this.#prefetch.overdue
  }

  /** `all` tells that as many came as were asked for. */
  add(leases: readonly Lease[], all: boolean): void {
    this.#leases = [...this.waiting(), ...leases]
    this.#next = 0
    if (all) this.#prefetch.filled()
  }

  shift(): Lease | undefined {
    const lease = this.#leases[this.#next]
    if (lease === undefined) return undefined
    this.#next++
    if (this.size === 0) this.#prefetch.emptied()
    return lease
  }

  get first(): Lease | undefined {
    return this.#leases[this.#next]
  }

  waiting(): readonly Lease[] {
    return this.#leases.slice(this.#next)
  }

  remove(lease: Lease): void {
    this.#leases = this.waiting().filter((each) => each !== lease)
    this.#next = 0
  }

  /** Gives all of them away, and no more is asked for ahead until jobs prove short again. */
  clear(): readonly Lease[] {
    const leases = this.waiting()
    this.#leases = []
    this.#next = 0
    this.#prefetch.reset()
    return leases
  }
}
