import { digest } from '../../core/text/digest.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import { type Recurrence, scheduleOf, storedName } from '../../definition/recurrence.ts'
import type { ScheduleEntry } from '../../queue/contract/schedule-store.ts'
import type { MisfirePolicy } from '../../scheduling/misfire.ts'
import type { Schedule } from '../../scheduling/schedule.ts'

/** What the runs of a schedule created at run time are made from. */
export interface StoredRun {
  readonly recurrence: Recurrence
  /** Whether its schedule was signed. If not, its runs are not either. */
  readonly isSigned: boolean
  readonly payload: unknown
}

interface FollowedParts {
  readonly name: string
  readonly definition: JobDefinition
  readonly schedule: Schedule
  readonly misfire: MisfirePolicy
  readonly version: string
  readonly stored: StoredRun | null
}

/** A schedule that this program follows, and the period for which there is nothing to do for it. */
export class Followed {
  /** Name of the schedule. If it is defined in code, this is the key of its job. */
  readonly name: string
  readonly definition: JobDefinition
  readonly schedule: Schedule
  readonly misfire: MisfirePolicy
  /** Changes when the schedule or the content of its runs changes. */
  readonly version: string
  /** Null if the schedule is defined in code. */
  readonly stored: StoredRun | null
  #from = Number.POSITIVE_INFINITY
  #until = Number.POSITIVE_INFINITY
  #end = Number.NEGATIVE_INFINITY

  private constructor({ name, definition, schedule, misfire, version, stored }: FollowedParts) {
    this.name = name
    this.definition = definition
    this.schedule = schedule
    this.misfire = misfire
    this.version = version
    this.stored = stored
  }

  static ofCode(definition: JobDefinition, schedule: Schedule): Followed {
    const { job: name, misfire } = definition
    return new Followed({ name, definition, schedule, misfire, version: versionOf(definition, schedule), stored: null })
  }

  /** Throws if this version cannot interpret the recurrence. */
  static ofStored(definition: JobDefinition, version: string, stored: StoredRun): Followed {
    const { recurrence } = stored
    const { key, misfire } = recurrence
    return new Followed({ name: storedName(key), definition, schedule: scheduleOf(recurrence), misfire, version, stored })
  }

  get job(): string {
    return this.definition.job
  }

  /** No run is due after this time. */
  get lastAt(): number | null {
    return this.stored?.recurrence.until ?? null
  }

  /** There is nothing to do before `until` from this time on; infinity if unknown. */
  get from(): number {
    return this.#from
  }

  /** When it is due next; infinity if unknown. */
  get until(): number {
    return this.#until
  }

  /** All occurrences up to this time are stored. */
  get end(): number {
    return this.#end
  }

  get isCovered(): boolean {
    return this.#from !== Number.POSITIVE_INFINITY
  }

  /** There is nothing to do between `from` and `until`, and occurrences before `end` are stored. */
  cover(from: number, until: number, end: number): void {
    this.#from = from
    this.#until = until
    this.#end = end
  }

  uncover(): void {
    this.cover(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY)
  }

  /** Whether there may be something to do now or within the horizon. */
  isOpen(now: number, horizonMs: number): boolean {
    return now < this.#from || now >= this.#until || now + horizonMs >= this.#end
  }

  /** Whether it is late by this much, or the clock was set back to before the last look. */
  isOutOfStep(now: number, lateMs: number): boolean {
    return now < this.#from || now - this.#until >= lateMs
  }
}

export function entryOf({ name, schedule, version }: Followed): ScheduleEntry {
  return { name, expression: schedule.expression, timezone: schedule.timezone, version }
}

/** The version of a schedule created at run time, derived from its signed text. */
export function versionOfText(text: string): string {
  return digest(text)
}

/** Runs are sealed in advance, so the version covers everything that is sealed into them. */
function versionOf({ fields, deadlineMs, singleInstance }: JobDefinition, { expression, timezone }: Schedule): string {
  const { name, queue, priority, maxAttempts, meta, args } = fields
  return digest(
    JSON.stringify([expression, timezone, name, queue, priority, maxAttempts, deadlineMs, singleInstance, meta, written(args)]),
  )
}

/** Arguments that are not valid JSON are rejected when a run is sealed. */
function written(args: unknown): string {
  try {
    return JSON.stringify(args) ?? ''
  } catch {
    return ''
  }
}
