import { type StoredOccurrence, Timeline } from '../rules/schedules/timeline.ts'

/** Where a unit finds stored occurrences. All throw `Missing` if something is not loaded. */
export interface OccurrenceSource {
  /** The latest ones of a schedule, in order; fewer than this if there are no more. */
  tail(schedule: string, size: number): readonly StoredOccurrence[]
  unended(schedule: string): readonly StoredOccurrence[]
  get(schedule: string, at: number): StoredOccurrence | undefined
  /** What to throw to have a longer tail loaded. */
  missingTail(schedule: string, size: number): Error
  readonly created: Set<StoredOccurrence>
  readonly removed: Set<StoredOccurrence>
}

/** How many of the latest occurrences of each schedule to load: four times as many each time more are needed. */
export class TailSizes {
  readonly #first: number
  readonly #sizes = new Map<string, number>()

  constructor(first: number) {
    this.#first = first
  }

  of(schedule: string): number {
    return this.#sizes.get(schedule) ?? this.#first
  }

  set(schedule: string, size: number): void {
    this.#sizes.set(schedule, size)
  }

  grow(schedule: string): number {
    const size = 4 * this.of(schedule)
    this.#sizes.set(schedule, size)
    return size
  }
}

/** The latest occurrences of a schedule. More are loaded if a query goes further back. */
export class LoadedTimeline extends Timeline {
  readonly #schedule: string
  readonly #sizes: TailSizes
  /** All occurrences from this instant on are loaded. */
  readonly #from: number
  readonly #source: OccurrenceSource

  constructor(schedule: string, source: OccurrenceSource, sizes: TailSizes) {
    const size = sizes.of(schedule)
    const tail = source.tail(schedule, size)
    super(schedule, [...tail])
    this.#schedule = schedule
    this.#sizes = sizes
    this.#from = tail.length < size ? Number.NEGATIVE_INFINITY : (tail[0] as StoredOccurrence).at
    this.#source = source
  }

  override get latest(): StoredOccurrence | undefined {
    const latest = super.latest
    this.#reach(latest?.at)
    return latest
  }

  override get unended(): Iterable<StoredOccurrence> {
    const stored = this.#source.unended(this.#schedule)
    return new Set([...super.unended, ...stored.filter((each) => !each.hasEnded && !this.#source.removed.has(each))])
  }

  override at(instant: number): StoredOccurrence | undefined {
    return super.at(instant) ?? (instant < this.#from ? this.#source.get(this.#schedule, instant) : undefined)
  }

  override around(now: number): ReturnType<Timeline['around']> {
    const found = super.around(now)
    this.#reach(found.last?.at)
    return found
  }

  override isSeen(at: number, now: number): boolean {
    if ((this.latest?.at ?? now) <= now) this.#reach(at)
    return super.isSeen(at, now)
  }

  override recent(upTo: number, limit: number): readonly StoredOccurrence[] {
    const found = super.recent(upTo, limit)
    this.#reach(found.length < limit ? undefined : found.at(-1)?.at)
    return found
  }

  override add(at: number, jobId: string, storedAt: number): StoredOccurrence {
    const occurrence = super.add(at, jobId, storedAt)
    this.#source.created.add(occurrence)
    return occurrence
  }

  override remove(doomed: ReadonlySet<StoredOccurrence>): void {
    super.remove(doomed)
    const { created, removed } = this.#source
    for (const each of doomed) if (!created.delete(each)) removed.add(each)
  }

  /** Loads more if an answer could lie before what is loaded. */
  #reach(at: number | undefined): void {
    if (this.#from === Number.NEGATIVE_INFINITY || (at !== undefined && at >= this.#from)) return
    throw this.#source.missingTail(this.#schedule, this.#sizes.grow(this.#schedule))
  }
}
