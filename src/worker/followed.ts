import type { ScheduleStore } from '../backends/store.ts'
import type { JobDefinition } from '../definition/definition.ts'
import { orderByDependency } from '../definition/dependencies.ts'
import type { Schedule } from '../scheduling/schedule.ts'

/** A schedule that is followed here, and for how long nothing of it can be new. */
export class Followed {
  readonly job: string
  readonly definition: JobDefinition
  readonly schedule: Schedule
  #from = Number.POSITIVE_INFINITY
  #until = Number.POSITIVE_INFINITY
  #end = Number.NEGATIVE_INFINITY

  constructor(definition: JobDefinition, schedule: Schedule) {
    this.job = definition.job
    this.definition = definition
    this.schedule = schedule
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
  readonly #registered = new Map<string, Schedule>()
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
    const changed = all.filter(({ job, schedule }) => !isSame(this.#registered.get(job), schedule))
    if (changed.length > 0) {
      await store.register(changed.map(({ job, schedule: { expression, timezone } }) => ({ name: job, expression, timezone })))
    }
    for (const each of changed) {
      this.#registered.set(each.job, each.schedule)
      each.uncover()
    }
    this.#isRegistered = true
    return changed.length > 0
  }
}

function isSameList(one: readonly JobDefinition[], other: readonly JobDefinition[]): boolean {
  return one.length === other.length && one.every((definition, index) => definition === other[index])
}

function isSame(one: Schedule | undefined, other: Schedule): boolean {
  return one !== undefined && one.expression === other.expression && one.timezone === other.timezone
}
