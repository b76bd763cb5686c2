import { openMemory } from '../../engines/memory/index.ts'
import type { Lease, WholeBackend } from '../../queue/contract/contract.ts'
import type { JobNumbers } from '../../queue/contract/store.ts'
import type { ManualClock } from '../manual-clock.ts'
import type { LeaseRef, LimitsSpec } from './program.ts'

/**
 * A backend that a program runs on, and what the program remembers of its answers, since tokens and numbers are chosen by the
 * backend.
 */
export class Stage {
  readonly backend: WholeBackend
  readonly clock: ManualClock
  readonly limits: LimitsSpec
  readonly startedAt: number
  /** The queue that jobs are moved to, and back from. */
  readonly elsewhere: WholeBackend
  readonly #tokens = new Map<number, string[]>()
  readonly #names = new Map<string, string>()
  readonly #numbers: number[] = []
  readonly #numberNames = new Map<number, string>()
  #revision: number | undefined

  constructor(backend: WholeBackend, clock: ManualClock, limits: LimitsSpec = {}) {
    this.backend = backend
    this.clock = clock
    this.limits = limits
    this.startedAt = clock.now()
    this.elsewhere = openMemory({ clock })
  }

  get numbering(): JobNumbers {
    const { numbers } = this.backend.store
    if (numbers === undefined) throw new Error(`${this.backend.kind} numbers no jobs`)
    return numbers
  }

  noteLease({ token, envelope }: Lease): void {
    const id = numberOfId(envelope.id)
    const tokens = [...(this.#tokens.get(id) ?? []), token]
    this.#tokens.set(id, tokens)
    this.#names.set(token, `lease ${tokens.length} of ${id}`)
  }

  /** Returns an invalid token if there never was such a lease. */
  tokenOf({ id = 0, stale = 0 }: LeaseRef): string {
    return this.#tokens.get(id)?.at(-1 - stale) ?? `no token of ${id}`
  }

  nameOfToken(token: string): string {
    return this.#names.get(token) ?? `an unknown token: ${token}`
  }

  noteReserved(first: number, count: number): void {
    for (let number = first; number < first + count; number++) this.#nameNumber(number, `reserved ${this.#numbers.length}`)
  }

  noteAssigned(number: number, id: number): void {
    if (!this.#numberNames.has(number)) this.#nameNumber(number, `given to ${id}`)
  }

  #nameNumber(number: number, name: string): void {
    if (this.#numberNames.has(number)) this.#numberNames.set(number, `given out twice: ${name}`)
    else this.#numberNames.set(number, name)
    this.#numbers.push(number)
  }

  /** The n-th number that was reserved or assigned to a job; null if there is none yet. */
  numberAt(index: number): number | null {
    return this.#numbers[index] ?? null
  }

  get numbers(): readonly number[] {
    return this.#numbers
  }

  nameOfNumber(number: number | null): string | null {
    return number === null ? null : (this.#numberNames.get(number) ?? `an unknown number: ${number}`)
  }

  /** The revision up to which the program has asked for schedule changes. */
  scheduleRevision = 0

  /** Whether it differs from the last call. */
  isNewRevision(revision: number): boolean {
    const isNew = revision !== this.#revision
    this.#revision = revision
    return isNew
  }
}

const idOfNumber = /^019b0000-([0-9a-f]{4})-7000-8000-000000000000$/

/** Ids increase with the numbers of the jobs, each as if created a millisecond after the previous one. */
export function idOf(number = 0): string {
  return `019b0000-${number.toString(16).padStart(4, '0')}-7000-8000-000000000000`
}

export function numberOfId(id: string): number {
  return Number.parseInt(idOfNumber.exec(id)?.[1] ?? '-1', 16)
}

export function nameOf(name = 0): string {
  return `work-${name}`
}

export function queueOf(queue = 0): string {
  return `queue-${queue}`
}

export function ownerOf(owner = 0): string {
  return `owner-${owner}`
}

export function groupOf(group: number): string {
  return `group-${group}`
}

export function tagOf(tag: number): string {
  return `tag-${tag}`
}

export function scheduleOf(schedule = 0): string {
  return `schedule-${schedule}`
}

/** The id of a batch, which is never the id of a job. */
export function rootOf(root = 0): string {
  return idOf(0xf000 + root)
}
