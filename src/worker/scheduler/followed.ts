import { digest } from '../../core/text/digest.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import { type Recurrence, scheduleOf, storedName } from '../../definition/recurrence.ts'
import type { ScheduleEntry } from '../../queue/contract/schedule-store.ts'
import type { MisfirePolicy } from '../../scheduling/misfire.ts'
import type { Schedule } from '../../scheduling/schedule.ts'

/** What the runs of a schedule have that was made at run time. */
export interface StoredRun {
  readonly recurrence: Recurrence
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

/** A schedule that is followed here, and for how long nothing of it can be new. */
export class Followed {
  /** What the schedule is called: like its job, where the code has it. */
  readonly name: string
  readonly definition: JobDefinition
  readonly schedule: Schedule
  readonly misfire: MisfirePolicy
  /** Another text when the schedule, or what its runs are made of, is another. */
  readonly version: string
  /** Null where the code has it. */
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

  /** Throws where this version does not understand when it is due. */
  static ofStored(definition: JobDefinition, version: string, stored: StoredRun): Followed {
    const { recurrence } = stored
    const { key, misfire } = recurrence
    return new Followed({ name: storedName(key), definition, schedule: scheduleOf(recurrence), misfire, version, stored })
  }

  get job(): string {
    return this.definition.job
  }

  /** No run is due after this instant. */
  get lastAt(): number | null {
    return this.stored?.recurrence.until ?? null
  }

  /** When it is due next; infinity where nobody can tell. */
  get until(): number {
    return this.#until
  }

  /** All its occurrences up to here are stored. */
  get end(): number {
    return this.#end
  }

  get isCovered(): boolean {
    return this.#from !== Number.POSITIVE_INFINITY
  }

  /** Between `from` and `until` there is nothing to do, and what lies before `end` is stored. */
  cover(from: number, until: number, end: number): void {
    this.#from = from
    this.#until = until
    this.#end = end
  }

  uncover(): void {
    this.cover(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY)
  }

  /** Whether there may be something to do now, or within the horizon. */
  isOpen(now: number, horizonMs: number): boolean {
    return now < this.#from || now >= this.#until || now + horizonMs >= this.#end
  }

  /** Late by this much, or before a time at which it was seen already: a clock that was set back. */
  isOutOfStep(now: number, lateMs: number): boolean {
    return now < this.#from || now - this.#until >= lateMs
  }
}

export function entryOf({ name, schedule, version }: Followed): ScheduleEntry {
  return { name, expression: schedule.expression, timezone: schedule.timezone, version }
}

/** The version of a schedule that was made at run time: of the text that was signed. */
export function versionOfText(text: string): string {
  return digest(text)
}

/** Runs are sealed ahead of their time: whatever is sealed into them counts. */
function versionOf({ fields, deadlineMs, singleInstance }: JobDefinition, { expression, timezone }: Schedule): string {
  const { name, queue, priority, maxAttempts, meta, args } = fields
  return digest(
    JSON.stringify([expression, timezone, name, queue, priority, maxAttempts, deadlineMs, singleInstance, meta, written(args)]),
  )
}

/** Arguments that are not JSON are refused when a run is sealed, and said there. */
function written(args: unknown): string {
  try {
    return JSON.stringify(args) ?? ''
  } catch {
    return ''
  }
}
