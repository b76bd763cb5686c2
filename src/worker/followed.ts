import type { ScheduleEntry, ScheduleStore } from '../backends/schedule-store.ts'
import { digest } from '../core/digest.ts'
import type { JobDefinition } from '../definition/definition.ts'
import { orderByDependency } from '../definition/dependencies.ts'
import type { Schedule } from '../scheduling/schedule.ts'

/** A schedule that is followed here, and for how long nothing of it can be new. */
export class Followed {
  readonly job: string
  readonly definition: JobDefinition
  readonly schedule: Schedule
  /** Another text when the schedule, or what its runs are made of, is another. */
  readonly version: string
  #from = Number.POSITIVE_INFINITY
  #until = Number.POSITIVE_INFINITY
  #end = Number.NEGATIVE_INFINITY

  constructor(definition: JobDefinition, schedule: Schedule) {
    this.job = definition.job
    this.definition = definition
    this.schedule = schedule
    this.version = versionOf(definition, schedule)
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

/** The schedules that a program follows, those that others come after first; the store is told of new and changed ones. */
export class FollowedSchedules {
  readonly #definitions: () => readonly JobDefinition[]
  readonly #environment: string | null
  /** The versions that the store was told. */
  readonly #registered = new Map<string, string>()
  #known: readonly JobDefinition[] = []
  #followed: readonly Followed[] = []
  #isRegistered = true

  constructor(definitions: () => readonly JobDefinition[], environment: string | null) {
    this.#definitions = definitions
    this.#environment = environment
  }

  get all(): readonly Followed[] {
    const definitions = this.#definitions()
    if (isSameList(definitions, this.#known)) return this.#followed
    const before = new Map(this.#followed.map((each) => [each.definition, each]))
    this.#known = [...definitions]
    const here = definitions.filter((definition) => definition.isFollowedIn(this.#environment))
    this.#followed = orderByDependency(here).flatMap((definition) => {
      const { schedule } = definition.fields
      return schedule === null ? [] : [before.get(definition) ?? new Followed(definition, schedule)]
    })
    this.#isRegistered = false
    return this.#followed
  }

  /** The store has lost it, so it is registered again. */
  lose({ job }: Followed): void {
    this.#registered.delete(job)
    this.#isRegistered = false
  }

  /** True when the store was told something. */
  async register(store: ScheduleStore): Promise<boolean> {
    const { all } = this
    if (this.#isRegistered) return false
    const changed = all.filter(({ job, version }) => this.#registered.get(job) !== version)
    if (changed.length > 0) {
      await store.register(changed.map(entryOf))
    }
    for (const each of changed) {
      this.#registered.set(each.job, each.version)
      each.uncover()
    }
    this.#isRegistered = true
    return changed.length > 0
  }
}

function isSameList(one: readonly JobDefinition[], other: readonly JobDefinition[]): boolean {
  return one.length === other.length && one.every((definition, index) => definition === other[index])
}

export function entryOf({ job, schedule, version }: Followed): ScheduleEntry {
  return { name: job, expression: schedule.expression, timezone: schedule.timezone, version }
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
