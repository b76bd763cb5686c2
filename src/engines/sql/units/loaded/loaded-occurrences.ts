import { StoredOccurrence } from '../../../../queue/rules/schedules/timeline.ts'
import type { OccurrenceSource } from '../../../../queue/units/loaded-timeline.ts'
import { Missing } from '../../../../queue/units/missing.ts'
import type { JobRow } from '../../rows/job-row.ts'
import { type OccurrenceRow, storedOccurrence } from '../../rows/schedule-record.ts'
import type { LoadedRows } from '../reading/loaded-rows.ts'
import { type Need, numberedName, tailNeed } from '../reading/needs.ts'

interface Loaded {
  readonly row: OccurrenceRow
  readonly occurrence: StoredOccurrence
}

/** All occurrences that a unit has loaded, each once. */
export class LoadedOccurrences implements OccurrenceSource {
  readonly #rows: LoadedRows
  readonly #byName = new Map<string, Loaded>()
  readonly #byJob = new Map<string, StoredOccurrence>()
  readonly created = new Set<StoredOccurrence>()
  readonly removed = new Set<StoredOccurrence>()

  constructor(rows: LoadedRows) {
    this.#rows = rows
  }

  /** Those that the rules may have changed, with their rows. */
  get loaded(): Iterable<Loaded> {
    return this.#byName.values()
  }

  get(schedule: string, at: number): StoredOccurrence | undefined {
    const name = numberedName(at, schedule)
    return this.#byName.get(name)?.occurrence ?? this.#known(this.#rows.get('occurrence', name))
  }

  tail(schedule: string, size: number): readonly StoredOccurrence[] {
    return this.#all(this.#rows.get('tail', tailNeed(schedule, size).name))
  }

  unended(schedule: string): readonly StoredOccurrence[] {
    return this.#all(this.#rows.get('unended', schedule))
  }

  missingTail(schedule: string, size: number): Missing<Need> {
    return new Missing([tailNeed(schedule, size)])
  }

  /** Most rules do not need the occurrence that a job stands for: its outcome is written by the id of the job. */
  ofJob({ id, schedule, run_at }: Pick<JobRow, 'id' | 'schedule' | 'run_at'>): StoredOccurrence | null {
    if (schedule === null) return null
    const known = this.#byJob.get(id) ?? this.#known(this.#rows.peek('occurrenceOf', id) ?? null)
    return known ?? new StoredOccurrence({ schedule, at: run_at, jobId: id, storedAt: run_at })
  }

  #all(rows: readonly OccurrenceRow[]): readonly StoredOccurrence[] {
    return rows.flatMap((row) => this.#known(row) ?? [])
  }

  #known(row: OccurrenceRow | null): StoredOccurrence | undefined {
    if (row === null) return undefined
    const name = numberedName(row.at, row.schedule)
    const known = this.#byName.get(name)
    if (known !== undefined) return known.occurrence
    const occurrence = storedOccurrence(row)
    this.#byName.set(name, { row, occurrence })
    this.#byJob.set(row.job_id, occurrence)
    return occurrence
  }
}
