import { messageOf, TreadleError } from '../core/errors.ts'
import { whatThereIs } from '../core/options.ts'
import type { JobDefinition } from './definition.ts'
import { type DefinitionPlace, type Repetition, repetitionOf } from './definition-place.ts'
import { classKey, type HandlerClass, handlerClassOf } from './handler.ts'
import { dependencyProblems } from './policies/dependencies.ts'
import { noRules, type ProgramRules } from './program-rules.ts'

/** Anything that can produce a definition: a builder, which may change until then, or a definition itself. */
export interface Described {
  readonly job: string
  /** The handler class; null if the handler is a function. */
  readonly handlerClass?: unknown
  toDefinition(): JobDefinition
}

/** The jobs known to this program, by key. The definitions it returns are completed with the rules of the program. */
export class Registry {
  readonly #described = new Map<string, Described>()
  readonly #places = new Map<string, DefinitionPlace | null>()
  readonly #byClass = new WeakMap<object, readonly string[]>()
  #rules: ProgramRules = noRules
  #completed = new WeakMap<JobDefinition, JobDefinition>()
  #found = new Map<string, JobDefinition>()
  #definitions: readonly JobDefinition[] | undefined

  /** Returns how it replaces an earlier definition of the same job; null if there was none. */
  add(described: Described, place: DefinitionPlace | null = null): Repetition | null {
    const { job, handlerClass } = described
    const repetition = this.#described.has(job) ? repetitionOf(this.#places.get(job) ?? null, place) : null
    if (repetition === 'duplicate') {
      throw new TreadleError('JOB_DUPLICATE', `Job "${job}" is defined twice. Give one of them another name.`)
    }
    this.#described.set(job, described)
    this.#places.set(job, place)
    this.#found.delete(job)
    this.#definitions = undefined
    // The class of an earlier definition remains this job: other copies of its module may still dispatch by it.
    if (isClass(handlerClass)) this.#byClass.set(handlerClass, [...new Set([...this.jobsOf(handlerClass), job])])
    return repetition
  }

  /** Removes a job that was known only temporarily. */
  remove(job: string): void {
    const handlerClass = this.#described.get(job)?.handlerClass
    if (isClass(handlerClass))
      this.#byClass.set(
        handlerClass,
        this.jobsOf(handlerClass).filter((each) => each !== job),
      )
    this.#described.delete(job)
    this.#places.delete(job)
    this.#found.delete(job)
    this.#definitions = undefined
  }

  /** Applies these rules from now on. */
  follow(rules: ProgramRules): void {
    this.#rules = rules
    this.#completed = new WeakMap()
    this.#found = new Map()
    this.#definitions = undefined
  }

  has(job: string): boolean {
    return this.#described.has(job)
  }

  /** The keys of the jobs handled by a class. */
  jobsOf(handlerClass: unknown): readonly string[] {
    return isClass(handlerClass) ? (this.#byClass.get(handlerClass) ?? []) : []
  }

  /** The key of a job given by its key, its builder, its definition or its class; undefined if it is none of them. */
  nameOf(given: unknown): unknown {
    if (typeof given === 'string') return given
    const handler = handlerClassOf(given)
    return handler === null ? Object(given).job : (this.jobOf(handler) ?? classKey(handler))
  }

  /** The key of the one job that a class handles; undefined if it handles none. */
  jobOf(handler: HandlerClass<never, unknown>): string | undefined {
    const [known, ...others] = this.jobsOf(handler)
    if (others.length === 0) return known
    const keys = [known, ...others].join(', ')
    throw new TreadleError('JOB_UNKNOWN', `Class ${handler.name} handles several jobs (${keys}): name the one that is meant`)
  }

  get(job: string): JobDefinition {
    const found = this.find(job)
    if (found !== undefined) return found
    const known = whatThereIs(job, [...this.#described.keys()], 'Defined here')
    throw new TreadleError('JOB_UNKNOWN', `No job is defined as "${job}". ${known}`)
  }

  find(job: string): JobDefinition | undefined {
    const found = this.#found.get(job)
    if (found !== undefined) return found
    const described = this.#described.get(job)
    if (described === undefined) return undefined
    const definition = this.complete(described.toDefinition())
    this.#found.set(job, definition)
    return definition
  }

  /** Completes a definition with the rules of this program, whether or not it is registered here. */
  complete(definition: JobDefinition): JobDefinition {
    if (this.#rules === noRules) return definition
    let completed = this.#completed.get(definition)
    if (completed === undefined) {
      completed = definition.completedBy(this.#rules)
      this.#completed.set(definition, completed)
      this.#completed.set(completed, completed)
    }
    return completed
  }

  /** Returns all definitions and freezes them. Throws if they contradict one another. */
  definitions(): readonly JobDefinition[] {
    this.#definitions ??= this.#fitting()
    return this.#definitions
  }

  /** Returns every problem of every definition. */
  problems(): readonly string[] {
    const sound: JobDefinition[] = []
    const problems: string[] = []
    for (const described of this.#described.values()) {
      try {
        sound.push(this.complete(described.toDefinition()))
      } catch (thrown) {
        problems.push(messageOf(thrown))
      }
    }
    return [...problems, ...dependencyProblems(sound, (job) => this.has(job))]
  }

  #fitting(): readonly JobDefinition[] {
    const definitions = [...this.#described.keys()].map((job) => this.get(job))
    const problems = dependencyProblems(definitions, (job) => this.has(job))
    if (problems.length > 0) throw new TreadleError('DEFINITION_INVALID', problems.join('; '))
    return definitions
  }
}

function isClass(given: unknown): given is object {
  return typeof given === 'function'
}
