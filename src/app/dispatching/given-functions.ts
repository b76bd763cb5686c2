import { JobDefinition } from '../../definition/definition.ts'
import type { HandlerFunction } from '../../definition/handler.ts'
import type { Registry } from '../../definition/registry.ts'
import type { JobEvents } from '../../execution/job-events.ts'

const ends = ['job:succeeded', 'job:dead', 'job:cancelled', 'job:skipped'] as const

/** How long to snooze a job whose function is in another process, so that that process can claim it. */
const lookAgain = '5s'

interface GivenFunction {
  readonly job: string
  readonly handler: HandlerFunction<never, unknown>
}

/**
 * Functions that were passed to a dispatch, each for one job in this process. A function is dropped when its job has ended. A job
 * name that has no other definition stays registered for as long as one of its functions is pending.
 */
export class GivenFunctions {
  readonly #byId = new Map<string, GivenFunction>()
  readonly #handlers = new Map<string, HandlerFunction<never, unknown>>()
  /** Jobs that are defined only by such functions, with the number of pending functions. */
  readonly #waiting = new Map<string, number>()
  readonly #registry: Registry
  readonly #events: JobEvents
  #stopListening: (() => void)[] = []

  constructor(registry: Registry, events: JobEvents) {
    this.#registry = registry
    this.#events = events
  }

  /** The functions by job id. */
  get handlers(): ReadonlyMap<string, HandlerFunction<never, unknown>> {
    return this.#handlers
  }

  /** Keeps the function for the job with this id, which need not be stored yet. Returns the definition of the job. */
  keep(id: string, job: string, handler: HandlerFunction<never, unknown>): JobDefinition {
    const isDefined = this.#registry.has(job) && !this.#waiting.has(job)
    if (!isDefined && !this.#waiting.has(job)) this.#registry.add(new JobDefinition({ job, handler: elsewhere }))
    if (!isDefined) this.#waiting.set(job, (this.#waiting.get(job) ?? 0) + 1)
    if (this.#byId.size === 0)
      this.#stopListening = ends.map((name) => this.#events.follow(name, ({ id: ended }) => this.forget(ended)))
    this.#byId.set(id, { job, handler })
    this.#handlers.set(id, handler)
    return this.#registry.get(job)
  }

  forget(id: string): void {
    const given = this.#byId.get(id)
    if (given === undefined) return
    this.#byId.delete(id)
    this.#handlers.delete(id)
    if (this.#byId.size === 0) for (const stop of this.#stopListening.splice(0)) stop()
    const waiting = this.#waiting.get(given.job)
    if (waiting === undefined) return
    if (waiting > 1) this.#waiting.set(given.job, waiting - 1)
    else {
      this.#waiting.delete(given.job)
      this.#registry.remove(given.job)
    }
  }
}

const elsewhere: HandlerFunction<unknown, never> = (_, context) => {
  context.logger.warn('has a function that was given in another process, or in one that is gone: it is left to that process')
  return context.snooze(lookAgain)
}
