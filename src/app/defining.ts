import { TreadleError } from '../core/errors.ts'
import { shown } from '../core/text/shown.ts'
import { DescribedJob, type JobBuilder } from '../definition/builder.ts'
import { JobDefinition } from '../definition/definition.ts'
import { definitionPlace } from '../definition/definition-place.ts'
import type { Dispatcher } from '../definition/dispatching/dispatch.ts'
import { classKey, type Handler, type HandlerClass, handlerClassOf } from '../definition/handler.ts'
import { type Described, Registry } from '../definition/registry.ts'
import { checkedSchemas, misplacedOptions, type Schema, type Schemas } from '../definition/schema.ts'

type InputOf<S extends Schema> = NonNullable<S['~standard']['types']>['input']
type OutputOf<S extends Schema> = NonNullable<S['~standard']['types']>['output']

/** The ways to refer to a job in a dispatch. */
export type Named = string | Pick<JobBuilder, 'toDefinition'> | JobDefinition | HandlerClass<never, unknown>

/** The methods that define a program's jobs. `Added` is what its middleware adds to the context of handlers. */
export abstract class Defining<Added = unknown> {
  protected readonly registry: Registry
  protected abstract readonly dispatcher: Dispatcher
  /** Called when a module was reloaded and its new definition replaces the old one. */
  protected abstract noteRedefined(job: string, file: string): void

  constructor(registry: Registry = new Registry()) {
    this.registry = registry
  }

  /**
   * Defines a job. The handler's types apply to every dispatch; a schema also validates values at run time. Given only a class,
   * the key is its static `jobName`, or else the name of the class.
   */
  define<Payload = unknown, Result = unknown>(job: string, handler: Handler<Payload, Result, Added>): JobBuilder<Payload, Result>
  define<Input extends Schema, Output extends Schema>(
    job: string,
    schemas: { readonly input: Input; readonly output: Output },
    handler: Handler<OutputOf<Input>, InputOf<Output>, Added>,
  ): JobBuilder<InputOf<Input>, OutputOf<Output>, OutputOf<Input>>
  define<Input extends Schema, Result = unknown>(
    job: string,
    schemas: { readonly input: Input },
    handler: Handler<OutputOf<Input>, Result, Added>,
  ): JobBuilder<InputOf<Input>, Result, OutputOf<Input>>
  define<Payload, Output extends Schema>(
    job: string,
    schemas: { readonly output: Output },
    handler: Handler<Payload, InputOf<Output>, Added>,
  ): JobBuilder<Payload, OutputOf<Output>>
  define<Payload, Result>(handler: HandlerClass<Payload, Result, Added>): JobBuilder<Payload, Result>
  define(
    job: string | HandlerClass<never, unknown, Added>,
    schemasOrHandler?: Schemas | Handler<never, unknown, Added>,
    handler?: Handler<never, unknown, Added>,
  ): JobBuilder {
    if (typeof job !== 'string' && schemasOrHandler === undefined) {
      const handlerClass = job as HandlerClass<never, unknown>
      return this.#define(keyOf(handlerClass), {}, handlerClass)
    }
    const hasSchemas = typeof schemasOrHandler === 'object' && schemasOrHandler !== null && handler !== undefined
    if (handler !== undefined && !hasSchemas) throw misplacedOptions(String(job), 'define() takes nothing after the handler.')
    const schemas = hasSchemas ? checkedSchemas(String(job), schemasOrHandler) : {}
    const work = hasSchemas ? handler : schemasOrHandler
    if (work === null)
      throw new TreadleError('HANDLER_INVALID', `The handler of "${job}" is null. For a job of another program, use declare().`)
    return this.#define(job as string, schemas, work as Handler<never, unknown>)
  }

  /** Declares a job that another program handles, so that this one can dispatch it. */
  declare<Payload = unknown, Result = unknown>(job: string): JobBuilder<Payload, Result> {
    return this.#add(new DescribedJob<Payload, Result>(job, {}, null, this.dispatcher))
  }

  /** Registers an existing definition under its key. */
  register<Definition extends JobDefinition<never, unknown>>(definition: Definition): Definition {
    if (definition instanceof JobDefinition) return this.#add(definition.usable())
    throw new TreadleError('DEFINITION_INVALID', `register() takes a JobDefinition, got ${shown(definition)}`)
  }

  has(job: string): boolean {
    return this.registry.has(job)
  }

  /** All definitions. Calling this freezes them. */
  definitions(): readonly JobDefinition[] {
    return this.registry.definitions()
  }

  /** All problems of the definitions. */
  problems(): readonly string[] {
    return this.registry.problems()
  }

  /** Defines a class or definition that is not registered yet. */
  protected definitionOf(job: unknown): JobDefinition {
    if (typeof job === 'string') return this.registry.get(job)
    if (job instanceof DescribedJob) return job.toDefinition()
    if (job instanceof JobDefinition) {
      if (job.fields.handler !== null && !this.registry.has(job.job)) this.#add(job.usable())
      return job.usable()
    }
    const handlerClass = handlerClassOf(job)
    if (handlerClass !== null) return this.#definitionOfClass(handlerClass)
    const got = typeof job === 'function' ? `the function ${job.name || 'without a name'}` : shown(job)
    throw new TreadleError(
      'JOB_UNKNOWN',
      `A job is named by a text, a builder, a definition or a class with "handle", got ${got}`,
    )
  }

  /** The key of a job that is used in another copy of this program, to which the settings of a changed copy would be lost. */
  protected sharedKeyOf(job: unknown): string {
    const definition = this.registry.complete(this.definitionOf(job))
    if (definition === this.registry.get(definition.job)) return definition.job
    const message = `Child "${definition.job}": an isolated handler names a child by its key, which a changed copy of a definition shares. Give what it changes as options: ctx.dispatchChild(job, payload, { queue: 'mail' })`
    throw new TreadleError('DEFINITION_INVALID', message)
  }

  /** Looks up the class itself, not its name: two classes with the same name are two jobs. */
  #definitionOfClass(handler: HandlerClass<never, unknown>): JobDefinition {
    const known = this.registry.jobOf(handler)
    if (known !== undefined) return this.registry.get(known)
    const key = keyOf(handler)
    if (this.registry.has(key)) {
      const message = `Class ${handler.name} would be the job "${key}", which has another handler. Give the class a static jobName of its own. If it is the same class in a module that was loaded again, as in hot reloading, define it in that module: jobs.define(${handler.name})`
      throw new TreadleError('JOB_DUPLICATE', message)
    }
    // Validated before it is registered, because it could not be corrected afterwards.
    return this.#add(new JobDefinition({ job: key, handler }))
  }

  #define(job: string, schemas: Schemas, handler: Handler<never, unknown>): JobBuilder {
    return this.#add(new DescribedJob(job, schemas, handler as Handler<unknown, unknown>, this.dispatcher))
  }

  #add<Job extends Described>(described: Job): Job {
    const place = definitionPlace()
    if (this.registry.add(described, place) === 'reload') this.noteRedefined(described.job, place?.file ?? '')
    return described
  }
}

function keyOf(handler: HandlerClass<never, unknown>): string {
  const key = handlerClassOf(handler) === null ? '' : classKey(handler)
  if (key !== '') return key
  throw new TreadleError('HANDLER_INVALID', 'A job without a key is a class with "handle" and a name: give it a static jobName')
}
