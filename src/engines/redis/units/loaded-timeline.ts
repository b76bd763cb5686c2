import { readOutcomeName, readTime } from '../../../queue/model/spoilt.ts'
import { StoredOccurrence, Timeline } from '../../../queue/rules/schedules/timeline.ts'
import { Missing } from '../../../queue/units/missing.ts'
import { field, type Need, range } from './needs.ts'
import type { Rows } from './rows.ts'
import { finiteOr, partsIn, textIn } from './stored-text.ts'

/** How many of the latest occurrences to load at first; four times as many each time more are needed. */
const firstTail = 16

export function occurrenceName(schedule: string, at: number): string {
  return `${schedule}\n${at}`
}

export function occurrenceText(occurrence: StoredOccurrence): string {
  const { jobId, storedAt } = occurrence
  const { outcome, startedAt, finishedAt } = occurrence.record()
  return JSON.stringify([jobId, storedAt, outcome, startedAt, finishedAt])
}

export function readOccurrence(schedule: string, at: number, text: string): StoredOccurrence {
  const [jobId, storedAt, outcome, startedAt, finishedAt] = partsIn(text)
  return new StoredOccurrence({
    ...{ schedule, at, jobId: textIn(jobId), storedAt: finiteOr(storedAt, at) },
    ...{ outcome: readOutcomeName(outcome), startedAt: readTime(startedAt), finishedAt: readTime(finishedAt) },
  })
}

/** All occurrences that a unit has loaded, each once. */
export class LoadedOccurrences {
  readonly #rows: Rows
  readonly #known = new Map<string, { readonly occurrence: StoredOccurrence; readonly text: string }>()
  readonly created = new Set<StoredOccurrence>()
  readonly removed = new Set<StoredOccurrence>()

  constructor(rows: Rows) {
    this.#rows = rows
  }

  get all(): Iterable<{ readonly occurrence: StoredOccurrence; readonly text: string }> {
    return this.#known.values()
  }

  get(schedule: string, at: number): StoredOccurrence | undefined {
    const name = occurrenceName(schedule, at)
    const known = this.#known.get(name)
    if (known !== undefined) return known.occurrence
    const text = this.#rows.field('oc', name)
    if (text === null) return undefined
    const occurrence = readOccurrence(schedule, at, text)
    this.#known.set(name, { occurrence, text })
    return occurrence
  }

  /**
   * The occurrence that a job stands for. If the schedule no longer has it, or it belongs to another job by now, returns a
   * detached one.
   */
  ofJob(schedule: string, at: number, jobId: string): StoredOccurrence {
    const found = this.get(schedule, at)
    return found?.jobId === jobId ? found : new StoredOccurrence({ schedule, at, jobId, storedAt: at })
  }
}

/** The latest occurrences of a schedule, and those that have not ended. More are loaded if a query goes further back. */
export class LoadedTimeline extends Timeline {
  readonly #schedule: string
  readonly #tails: Map<string, number>
  /** All occurrences from this instant on are loaded. */
  readonly #from: number
  readonly #occurrences: LoadedOccurrences

  constructor(schedule: string, rows: Rows, occurrences: LoadedOccurrences, tails: Map<string, number>) {
    const size = tails.get(schedule) ?? firstTail
    const tail = rows.range(`occ:${schedule}`, -size, -1).map(Number).filter(Number.isFinite)
    const unended = rows.range(`ou:${schedule}`).map(Number).filter(Number.isFinite)
    const instants = [...new Set([...unended, ...tail])].sort((a, b) => a - b)
    rows.want(instants.map((at) => field('oc', occurrenceName(schedule, at))))
    super(
      schedule,
      instants.flatMap((at) => occurrences.get(schedule, at) ?? []),
    )
    this.#schedule = schedule
    this.#tails = tails
    this.#from = tail.length < size ? Number.NEGATIVE_INFINITY : (tail[0] as number)
    this.#occurrences = occurrences
  }

  static needs(schedule: string, tails: Map<string, number>): readonly Need[] {
    return [range(`occ:${schedule}`, -(tails.get(schedule) ?? firstTail), -1), range(`ou:${schedule}`)]
  }

  override get latest(): StoredOccurrence | undefined {
    const latest = super.latest
    this.#reach(latest?.at)
    return latest
  }

  override at(instant: number): StoredOccurrence | undefined {
    return super.at(instant) ?? (instant < this.#from ? this.#occurrences.get(this.#schedule, instant) : undefined)
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
    this.#occurrences.created.add(occurrence)
    return occurrence
  }

  override remove(doomed: ReadonlySet<StoredOccurrence>): void {
    super.remove(doomed)
    for (const each of doomed) if (!this.#occurrences.created.delete(each)) this.#occurrences.removed.add(each)
  }

  /** Loads more if an answer could lie before what is loaded. */
  #reach(at: number | undefined): void {
    if (this.#from === Number.NEGATIVE_INFINITY || (at !== undefined && at >= this.#from)) return
    this.#tails.set(this.#schedule, 4 * (this.#tails.get(this.#schedule) ?? firstTail))
    throw new Missing(LoadedTimeline.needs(this.#schedule, this.#tails))
  }
}
