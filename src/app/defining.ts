import { TreadleError } from '../core/errors.ts'
import { JobBuilder } from '../definition/builder.ts'
import type { JobDefinition } from '../definition/definition.ts'
import type { Dispatcher } from '../definition/dispatch.ts'
import type { Handler, HandlerClass } from '../definition/handler.ts'
import { Registry } from '../definition/registry.ts'
import { checkedSchemas, type Schema, type Schemas } from '../definition/schema.ts'

type InputOf<S extends Schema> = NonNullable<S['~standard']['types']>['input']
type OutputOf<S extends Schema> = NonNullable<S['~standard']['types']>['output']

/** How a dispatch may name its job. */
export type Named = string | Pick<JobBuilder, 'toDefinition'> | HandlerClass<never, unknown>

/** The words by which a program says what its jobs are. */
export abstract class Defining {
  protected readonly registry = new Registry()
  protected abstract readonly dispatcher: Dispatcher

  /** Describes a job. The handler's types are those of every dispatch; a schema checks them at run time too. */
  define<Payload = unknown, Result = unknown>(job: string, handler: Handler<Payload, Result>): JobBuilder<Payload, Result>
  define<Input extends Schema, Output extends Schema>(
    job: string,
    schemas: { readonly input: Input; readonly output: Output },
    handler: Handler<OutputOf<Input>, InputOf<Output>>,
  ): JobBuilder<InputOf<Input>, OutputOf<Output>, OutputOf<Input>>
  define<Input extends Schema, Result = unknown>(
    job: string,
    schemas: { readonly input: Input },
    handler: Handler<OutputOf<Input>, Result>,
  ): JobBuilder<InputOf<Input>, Result, OutputOf<Input>>
  define<Payload, Output extends Schema>(
    job: string,
    schemas: { readonly output: Output },
    handler: Handler<Payload, InputOf<Output>>,
  ): JobBuilder<Payload, OutputOf<Output>>
  define(job: string, schemasOrHandler: Schemas | Handler<never, unknown>, handler?: Handler<never, unknown>): JobBuilder {
    const hasSchemas = typeof schemasOrHandler === 'object' && schemasOrHandler !== null && handler !== undefined
    const schemas = hasSchemas ? checkedSchemas(job, schemasOrHandler) : {}
    const work = hasSchemas ? handler : schemasOrHandler
    if (work === null)
      throw new TreadleError('HANDLER_INVALID', `The handler of "${job}" is null. For a job of another program, use declare().`)
    return this.#add(new JobBuilder(job, schemas, work as Handler<unknown, unknown>, this.dispatcher))
  }

  /** Names a job that another program handles, so that this one can dispatch it. */
  declare<Payload = unknown, Result = unknown>(job: string): JobBuilder<Payload, Result> {
    return this.#add(new JobBuilder<Payload, Result>(job, {}, null, this.dispatcher))
  }

  has(job: string): boolean {
    return this.registry.has(job)
  }

  /** All definitions; asking freezes them. */
  definitions(): readonly JobDefinition[] {
    return this.registry.definitions()
  }

  /** Everything that is wrong with the definitions. */
  problems(): readonly string[] {
    return this.registry.problems()
  }

  /** A class that is not known yet, or a name with a handler, is defined on the way. */
  protected definitionOf(job: Named, handler: Handler<unknown, unknown> | undefined): JobDefinition {
    if (typeof job !== 'string' && typeof job !== 'function' && !(job instanceof JobBuilder)) {
      throw new TreadleError('JOB_UNKNOWN', `A job is named by a text, a builder or a class, got ${String(job)}`)
    }
    if (typeof job !== 'string' && 'toDefinition' in job) return job.toDefinition()
    const name = typeof job === 'string' ? job : job.name
    const work = typeof job === 'string' ? handler : (job as Handler<unknown, unknown>)
    if (work !== undefined && !this.registry.has(name)) this.#defineOnTheWay(name, work)
    return this.registry.get(name)
  }

  /** Refused before it is known: nobody could mend it afterwards. */
  #defineOnTheWay(job: string, handler: Handler<unknown, unknown>): void {
    const builder = new JobBuilder(job, {}, handler, this.dispatcher)
    builder.toDefinition()
    this.#add(builder)
  }

  #add<Builder extends { readonly job: string; toDefinition(): JobDefinition }>(builder: Builder): Builder {
    this.registry.add(builder)
    return builder
  }
}
