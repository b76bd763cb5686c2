import type { Lease } from '../backends/contract.ts'
import type { Timer } from '../core/clock.ts'
import { Prefetch } from './prefetch.ts'

/** Leases that wait for a free hand in this worker, in the order in which they came. */
export class LeaseBuffer {
  readonly #prefetch: Prefetch
  /** Those that wait for something else: a hand that is free is not for them. */
  readonly #held = new Map<Lease, Timer>()
  #leases: Lease[] = []
  #next = 0

  constructor(concurrency: number, mostAhead: number) {
    this.#prefetch = new Prefetch(concurrency, mostAhead)
  }

  get size(): number {
    return this.#leases.length - this.#next
  }

  get heldSize(): number {
    return this.#held.size
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
    this.#leases = [...this.#queued(), ...leases]
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

  /** Takes the first one aside until the timer is over, which tells by `unhold`. */
  hold(timer: Timer): void {
    const lease = this.shift()
    if (lease !== undefined) this.#held.set(lease, timer)
  }

  /** It has waited longer than those that came meanwhile. */
  unhold(lease: Lease): void {
    if (!this.#held.delete(lease)) return
    this.#leases = [lease, ...this.#queued()]
    this.#next = 0
  }

  waiting(): readonly Lease[] {
    return [...this.#held.keys(), ...this.#queued()]
  }

  remove(lease: Lease): void {
    this.#held.get(lease)?.cancel()
    if (this.#held.delete(lease)) return
    this.#leases = this.#queued().filter((each) => each !== lease)
    this.#next = 0
  }

  /** Gives those away that are held. */
  clearHeld(): readonly Lease[] {
    const leases = [...this.#held.keys()]
    for (const timer of this.#held.values()) timer.cancel()
    this.#held.clear()
    return leases
  }

  /** Gives all away that wait for a free hand, and no more is asked for ahead until jobs prove short again. */
  clear(): readonly Lease[] {
    const leases = this.#queued()
    this.#leases = []
    this.#next = 0
    this.#prefetch.reset()
    return leases
  }

  #queued(): readonly Lease[] {
    return this.#leases.slice(this.#next)
  }
}
