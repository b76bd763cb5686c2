import { messageOf, TreadleError } from '../core/errors.ts'
import type { JobDefinition } from './definition.ts'
import { dependencyProblems } from './dependencies.ts'

/** Anything that can give its definition: a builder, until then open to change. */
interface Described {
  readonly job: string
  toDefinition(): JobDefinition
}

/** The jobs that this program knows, by key. */
export class Registry {
  readonly #described = new Map<string, Described>()
  #definitions: readonly JobDefinition[] | undefined

  add(described: Described): void {
    if (this.#described.has(described.job)) {
      throw new TreadleError('JOB_DUPLICATE', `Job "${described.job}" is defined twice. Give one of them another name.`)
    }
    this.#described.set(described.job, described)
    this.#definitions = undefined
  }

  has(job: string): boolean {
    return this.#described.has(job)
  }

  get(job: string): JobDefinition {
    const described = this.#described.get(job)
    if (described !== undefined) return described.toDefinition()
    const known = [...this.#described.keys()].join(', ') || 'none'
    throw new TreadleError('JOB_UNKNOWN', `No job is defined as "${job}". Defined here: ${known}`)
  }

  find(job: string): JobDefinition | undefined {
    return this.#described.get(job)?.toDefinition()
  }

  /** All definitions; asking freezes them. Throws when they do not fit together. */
  definitions(): readonly JobDefinition[] {
    this.#definitions ??= this.#fitting()
    return this.#definitions
  }

  /** What is wrong with any of them, all at once. */
  problems(): readonly string[] {
    const sound: JobDefinition[] = []
    const problems: string[] = []
    for (const described of this.#described.values()) {
      try {
        sound.push(described.toDefinition())
      } catch (thrown) {
        problems.push(messageOf(thrown))
      }
    }
    return [...problems, ...dependencyProblems(sound, (job) => this.has(job))]
  }

  #fitting(): readonly JobDefinition[] {
    const definitions = [...this.#described.values()].map((described) => described.toDefinition())
    const problems = dependencyProblems(definitions, (job) => this.has(job))
    if (problems.length > 0) throw new TreadleError('DEFINITION_INVALID', problems.join('; '))
    return definitions
  }
}
