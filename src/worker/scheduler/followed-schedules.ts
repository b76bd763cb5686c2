import type { JobDefinition } from '../../definition/definition.ts'
import { orderByDependency } from '../../definition/policies/dependencies.ts'
import type { ScheduleStore } from '../../queue/contract/schedule-store.ts'
import { entryOf, Followed } from './followed.ts'

/**
 * The schedules defined in code that a program follows, ordered so that dependencies come first. New and changed ones are
 * registered in the store.
 */
export class FollowedSchedules {
  readonly #definitions: () => readonly JobDefinition[]
  readonly #environment: string | null
  /** The versions registered in the store. */
  readonly #registered = new Map<string, string>()
  #known: readonly JobDefinition[] = []
  #followed: readonly Followed[] = []
  #byName: ReadonlyMap<string, Followed> = new Map()
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
      return schedule === null ? [] : [before.get(definition) ?? Followed.ofCode(definition, schedule)]
    })
    this.#byName = new Map(this.#followed.map((each) => [each.name, each]))
    this.#isRegistered = false
    return this.#followed
  }

  /** As of the last call of `all`. */
  get current(): readonly Followed[] {
    return this.#followed
  }

  find(name: string): Followed | undefined {
    return this.#byName.get(name)
  }

  /** The store has lost the schedule, so register it again. */
  lose({ name }: Followed): void {
    this.#registered.delete(name)
    this.#isRegistered = false
  }

  /** Returns whether anything was registered. */
  async register(store: ScheduleStore): Promise<boolean> {
    const { all } = this
    if (this.#isRegistered) return false
    const changed = all.filter(({ name, version }) => this.#registered.get(name) !== version)
    if (changed.length > 0) {
      await store.register(changed.map(entryOf))
    }
    for (const each of changed) {
      this.#registered.set(each.name, each.version)
      each.uncover()
    }
    this.#isRegistered = true
    return changed.length > 0
  }
}

function isSameList(one: readonly JobDefinition[], other: readonly JobDefinition[]): boolean {
  return one.length === other.length && one.every((definition, index) => definition === other[index])
}
