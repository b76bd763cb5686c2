import { type FinalState, isFinal, type JobState } from '../job-state.ts'
import type { OccurrenceRecord } from '../schedule-store.ts'

/** What an occurrence is told of its job, whenever that moves. */
interface Progress {
  readonly state: JobState
  readonly startedAt: number | null
  readonly finishedAt: number | null
}

/** One occurrence of a schedule. It outlives its job. */
export class MemoryOccurrence {
  readonly schedule: string
  readonly at: number
  readonly jobId: string
  #storedAt: number
  #unended: Set<MemoryOccurrence> | undefined
  #outcome: FinalState | null = null
  #startedAt: number | null = null
  #finishedAt: number | null = null

  constructor(schedule: string, at: number, jobId: string, storedAt: number, unended: Set<MemoryOccurrence>) {
    this.schedule = schedule
    this.at = at
    this.jobId = jobId
    this.#storedAt = storedAt
    this.#unended = unended.add(this)
  }

  /** When it was stored, or seen to be due. */
  get storedAt(): number {
    return this.#storedAt
  }

  get hasEnded(): boolean {
    return this.#outcome !== null
  }

  follow({ state, startedAt, finishedAt }: Progress): void {
    this.#outcome = isFinal(state) ? state : null
    this.#startedAt = this.hasEnded ? startedAt : null
    this.#finishedAt = this.hasEnded ? finishedAt : null
    if (this.hasEnded) this.#unended?.delete(this)
    else this.#unended?.add(this)
  }

  /** As if it had been stored when it was due. */
  markSeen(now: number): void {
    if (this.at <= now) this.#storedAt = Math.max(this.#storedAt, now)
  }

  /** It is no longer one of its schedule's: whatever its job does from now on is of no account. */
  leave(): void {
    this.#unended?.delete(this)
    this.#unended = undefined
  }

  record(): OccurrenceRecord {
    const { schedule, at, jobId } = this
    return { schedule, at, jobId, outcome: this.#outcome, startedAt: this.#startedAt, finishedAt: this.#finishedAt }
  }
}

/** The occurrences of one schedule in the order of their instants. */
export class Timeline {
  readonly #schedule: string
  readonly #unended = new Set<MemoryOccurrence>()
  #occurrences: MemoryOccurrence[] = []

  constructor(schedule: string) {
    this.#schedule = schedule
  }

  get latest(): MemoryOccurrence | undefined {
    return this.#occurrences.at(-1)
  }

  get unended(): Iterable<MemoryOccurrence> {
    return this.#unended
  }

  at(instant: number): MemoryOccurrence | undefined {
    const found = this.#occurrences[this.#firstFrom(instant)]
    return found?.at === instant ? found : undefined
  }

  /** The last one that is due, and the first that is not. */
  around(now: number): { last: MemoryOccurrence | undefined; next: MemoryOccurrence | undefined } {
    const index = this.#firstFrom(now + 1)
    return { last: this.#occurrences[index - 1], next: this.#occurrences[index] }
  }

  /** Somebody was there when this instant was due: see `Neighbours.seen`. */
  isSeen(at: number, now: number): boolean {
    if ((this.latest?.at ?? now) > now) return true
    const lastStored = this.#occurrences.findLastIndex((each) => each.at < at || each.storedAt >= at)
    return lastStored >= this.#firstFrom(at)
  }

  /** Up to this instant, the latest first. */
  recent(upTo: number, limit: number): readonly MemoryOccurrence[] {
    const end = this.#firstFrom(upTo + 1)
    return this.#occurrences.slice(Math.max(0, end - limit), end).reverse()
  }

  add(at: number, jobId: string, storedAt: number): MemoryOccurrence {
    const occurrence = new MemoryOccurrence(this.#schedule, at, jobId, storedAt, this.#unended)
    this.#occurrences.splice(this.#firstFrom(at), 0, occurrence)
    return occurrence
  }

  remove(doomed: ReadonlySet<MemoryOccurrence>): void {
    this.#occurrences = this.#occurrences.filter((each) => !doomed.has(each))
    for (const each of doomed) each.leave()
  }

  /** Drops ended ones from before this instant, but never the last of those that have ended. */
  forget(before: number, limit: number): number {
    const lastEnded = this.#occurrences.findLastIndex(({ hasEnded }) => hasEnded)
    const old = this.#occurrences.slice(0, Math.max(0, Math.min(this.#firstFrom(before), lastEnded)))
    const forgotten = old.filter(({ hasEnded }) => hasEnded).slice(0, limit)
    if (forgotten.length > 0) this.remove(new Set(forgotten))
    return forgotten.length
  }

  #firstFrom(at: number): number {
    let low = 0
    let high = this.#occurrences.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#occurrences[middle] as MemoryOccurrence).at < at) low = middle + 1
      else high = middle
    }
    return low
  }
}
