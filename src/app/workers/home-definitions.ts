import type { JobDefinition } from '../../definition/definition.ts'
import type { Registry } from '../../definition/registry.ts'

/** The definitions whose schedules and limits are stored in one backend. Returns the same array until the definitions change. */
export class HomeDefinitions {
  readonly #registry: Pick<Registry, 'definitions'>
  readonly #isHome: (definition: JobDefinition) => boolean
  #all: readonly JobDefinition[] | undefined
  #home: readonly JobDefinition[] = []

  constructor(registry: Pick<Registry, 'definitions'>, isHome: (definition: JobDefinition) => boolean) {
    this.#registry = registry
    this.#isHome = isHome
  }

  definitions(): readonly JobDefinition[] {
    const all = this.#registry.definitions()
    if (all !== this.#all) {
      this.#all = all
      this.#home = all.every(this.#isHome) ? all : all.filter(this.#isHome)
    }
    return this.#home
  }
}
