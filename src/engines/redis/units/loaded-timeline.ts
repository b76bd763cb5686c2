import { readOutcomeName, readTime } from '../../../queue/model/spoilt.ts'
import { StoredOccurrence } from '../../../queue/rules/schedules/timeline.ts'
import type { OccurrenceSource } from '../../../queue/units/loaded-timeline.ts'
import { Missing } from '../../../queue/units/missing.ts'
import { type Head, readHead } from './head.ts'
import { field, type Need, range } from './needs.ts'
import type { Rows } from './rows.ts'
import { finiteOr, partsIn, textIn } from './stored-text.ts'

/** How many of the latest occurrences to load at first. */
export const firstTail = 16

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
export class LoadedOccurrences implements OccurrenceSource {
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

  tail(schedule: string, size: number): readonly StoredOccurrence[] {
    return this.#all(schedule, instantsIn(this.#rows.range(`occ:${schedule}`, -size, -1)))
  }

  unended(schedule: string): readonly StoredOccurrence[] {
    return this.#all(schedule, instantsIn(this.#rows.range(`ou:${schedule}`)))
  }

  missingTail(schedule: string, size: number): Missing<Need> {
    return new Missing([range(`occ:${schedule}`, -size, -1)])
  }

  /**
   * The occurrence that a job stands for. If the schedule no longer has it, or it belongs to another job by now, returns a
   * detached one. Null for a job that was dispatched. If it is missing, it is loaded together with those of all other jobs that
   * have been loaded, because the rule most likely reads them next.
   */
  ofJob(head: Head, jobId: string): StoredOccurrence | null {
    const { schedule } = head
    if (schedule === null) return null
    const at = head.at ?? 0
    if (this.#rows.peek(field('oc', occurrenceName(schedule, at))) === undefined) {
      this.#rows.want(this.#rows.heads.flatMap((text) => needOf(readHead(text))))
    }
    const found = this.get(schedule, at)
    return found?.jobId === jobId ? found : new StoredOccurrence({ schedule, at, jobId, storedAt: at })
  }

  #all(schedule: string, instants: readonly number[]): readonly StoredOccurrence[] {
    this.#rows.want(instants.map((at) => field('oc', occurrenceName(schedule, at))))
    return instants.flatMap((at) => this.get(schedule, at) ?? [])
  }
}

function needOf({ schedule, at }: Head): readonly Need[] {
  return schedule === null ? [] : [field('oc', occurrenceName(schedule, at ?? 0))]
}

export function instantsIn(members: readonly string[]): readonly number[] {
  return members.map(Number).filter(Number.isFinite)
}
