import { firstFrom } from '../../../core/sorted.ts'
import { type FinalState, isFinal, type JobState } from '../../contract/job-state.ts'
import type { OccurrenceKey, OccurrenceRecord } from '../../contract/schedule-store.ts'

/** What an occurrence learns about its job whenever that changes state. */
interface Progress {
  readonly state: JobState
  readonly startedAt: number | null
  readonly finishedAt: number | null
}

/** The stored state of an occurrence. */
export interface OccurrenceState extends OccurrenceKey, Partial<Pick<OccurrenceRecord, 'outcome' | 'startedAt' | 'finishedAt'>> {
  readonly jobId: string
  readonly storedAt: number
}

/** One occurrence of a schedule. It outlives its job. */
export class StoredOccurrence {
  readonly schedule: string
  readonly at: number
  readonly jobId: string
  #storedAt: number
  #unended: Set<StoredOccurrence> | undefined
  #outcome: FinalState | null = null
  #startedAt: number | null = null
  #finishedAt: number | null = null

  constructor({ schedule, at, jobId, ...rest }: OccurrenceState) {
    this.schedule = schedule
    this.at = at
    this.jobId = jobId
    this.#storedAt = rest.storedAt
    this.#outcome = rest.outcome ?? null
    this.#startedAt = rest.startedAt ?? null
    this.#finishedAt = rest.finishedAt ?? null
  }

  /** Adds it to its schedule. */
  join(unended: Set<StoredOccurrence>): void {
    this.#unended = unended
    if (!this.hasEnded) unended.add(this)
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

  /** Treats it as if it had been stored when it was due. */
  markSeen(now: number): void {
    if (this.at <= now) this.#storedAt = Math.max(this.#storedAt, now)
  }

  /** Removes it from its schedule: what its job does from now on no longer matters. */
  leave(): void {
    this.#unended?.delete(this)
    this.#unended = undefined
  }

  /** Takes over the state known elsewhere. */
  restore(known: Pick<OccurrenceRecord, 'outcome' | 'startedAt' | 'finishedAt'> & { readonly storedAt: number }): void {
    this.#storedAt = known.storedAt
    this.#outcome = known.outcome
    this.#startedAt = known.startedAt
    this.#finishedAt = known.finishedAt
    if (this.hasEnded) this.#unended?.delete(this)
    else this.#unended?.add(this)
  }

  record(): OccurrenceRecord {
    const { schedule, at, jobId } = this
    return { schedule, at, jobId, outcome: this.#outcome, startedAt: this.#startedAt, finishedAt: this.#finishedAt }
  }
}

/** The occurrences of one schedule in the order of their instants. */
export class Timeline {
  readonly #schedule: string
  readonly #unended = new Set<StoredOccurrence>()
  #occurrences: StoredOccurrence[]

  /** `occurrences` must be in the order of their instants. */
  constructor(schedule: string, occurrences: StoredOccurrence[] = []) {
    this.#schedule = schedule
    this.#occurrences = occurrences
    for (const each of occurrences) each.join(this.#unended)
  }

  get latest(): StoredOccurrence | undefined {
    return this.#occurrences.at(-1)
  }

  get unended(): Iterable<StoredOccurrence> {
    return this.#unended
  }

  get all(): readonly StoredOccurrence[] {
    return this.#occurrences
  }

  at(instant: number): StoredOccurrence | undefined {
    const found = this.#occurrences[this.#firstFrom(instant)]
    return found?.at === instant ? found : undefined
  }

  /** The last one that is due, and the first that is not. */
  around(now: number): { last: StoredOccurrence | undefined; next: StoredOccurrence | undefined } {
    const index = this.#firstFrom(now + 1)
    return { last: this.#occurrences[index - 1], next: this.#occurrences[index] }
  }

  /** Whether a scheduler was running when this instant was due: see `Neighbours.seen`. */
  isSeen(at: number, now: number): boolean {
    if ((this.latest?.at ?? now) > now) return true
    const lastStored = this.#occurrences.findLastIndex((each) => each.at < at || each.storedAt >= at)
    return lastStored >= this.#firstFrom(at)
  }

  /** Up to this instant, latest first. */
  recent(upTo: number, limit: number): readonly StoredOccurrence[] {
    const end = this.#firstFrom(upTo + 1)
    return this.#occurrences.slice(Math.max(0, end - limit), end).reverse()
  }

  add(at: number, jobId: string, storedAt: number): StoredOccurrence {
    const occurrence = new StoredOccurrence({ schedule: this.#schedule, at, jobId, storedAt })
    occurrence.join(this.#unended)
    this.#occurrences.splice(this.#firstFrom(at), 0, occurrence)
    return occurrence
  }

  remove(doomed: ReadonlySet<StoredOccurrence>): void {
    this.#occurrences = this.#occurrences.filter((each) => !doomed.has(each))
    for (const each of doomed) each.leave()
  }

  /** Deletes ended ones from before this instant, but never the last one that has ended. */
  forget(before: number, limit: number): number {
    const lastEnded = this.#occurrences.findLastIndex(({ hasEnded }) => hasEnded)
    const old = this.#occurrences.slice(0, Math.max(0, Math.min(this.#firstFrom(before), lastEnded)))
    const forgotten = old.filter(({ hasEnded }) => hasEnded).slice(0, limit)
    if (forgotten.length > 0) this.remove(new Set(forgotten))
    return forgotten.length
  }

  #firstFrom(at: number): number {
    return firstFrom(this.#occurrences, (each) => each.at < at)
  }
}
