import { TreadleError } from '../core/errors.ts'
import { shown } from '../core/text/shown.ts'
import type { JobContext } from './context.ts'

/**
 * Does the work of a job. Its return value is stored as the result and must be JSON. `Added` is what middleware adds to the
 * context.
 */
export type HandlerFunction<Payload, Result, Added = unknown> = (
  payload: Payload,
  context: JobContext<Payload> & Added,
) => Result | Promise<Result>

/** A class with a `handle` method, static or on its instances. An instance is created for each run, without arguments. */
export type HandlerClass<Payload, Result, Added = unknown> =
  | { readonly name: string; handle: HandlerFunction<Payload, Result, Added> }
  | (new () => { handle: HandlerFunction<Payload, Result, Added> })

/** Does the work of a job: a function, or a class with a `handle` method. */
export type Handler<Payload, Result, Added = unknown> =
  | HandlerFunction<Payload, Result, Added>
  | HandlerClass<Payload, Result, Added>

/** Marks handlers that reach outside the program. They run only on queues whose allowlist names the job. */
export const restricted: unique symbol = Symbol.for('treadle.restricted')

/**
 * Returns the function to call for any kind of handler: a static `handle` first, then an instance's, then the function itself.
 */
export function handlerFunction<Payload, Result>(
  job: string,
  handler: Handler<Payload, Result>,
): HandlerFunction<Payload, Result> {
  if (typeof handler !== 'function') throw invalid(job, handler)
  if ('handle' in handler && typeof handler.handle === 'function') {
    const { handle } = handler as { handle: HandlerFunction<Payload, Result> }
    refuseGenerator(job, handle)
    return (payload, context) => handle.call(handler, payload, context)
  }
  const prototype: unknown = handler.prototype
  if (typeof prototype === 'object' && prototype !== null && 'handle' in prototype) {
    refuseGenerator(job, prototype.handle)
    const Class = handler as new () => { handle: HandlerFunction<Payload, Result> }
    return (payload, context) => new Class().handle(payload, context)
  }
  if (isClass(handler)) throw invalid(job, handler)
  refuseGenerator(job, handler)
  return handler as HandlerFunction<Payload, Result>
}

/** The handler if it is a class; null if it is a function. */
export function handlerClassOf(handler: unknown): HandlerClass<never, unknown> | null {
  if (typeof handler !== 'function') return null
  const { prototype } = handler
  const isWorker = 'handle' in handler || (typeof prototype === 'object' && prototype !== null && 'handle' in prototype)
  return isWorker ? (handler as HandlerClass<never, unknown>) : null
}

/** The job key of a handler class: its static `jobName`, or else its own name. Empty if it has neither. */
export function classKey(handler: HandlerClass<never, unknown>): string {
  const { jobName, name } = handler as { readonly jobName?: unknown; readonly name: string }
  if (jobName === undefined) return name
  if (typeof jobName === 'string') return jobName
  throw new TreadleError('HANDLER_INVALID', `The static jobName of class ${name} must be a string, got ${shown(jobName)}`)
}

/** Calling a generator function runs none of its body. */
function refuseGenerator(job: string, handler: unknown): void {
  if (!/GeneratorFunction\]$/.test(Object.prototype.toString.call(handler))) return
  const message = `The handler of "${job}" must be a function that does the work when it is called, got a generator function: remove the "*"`
  throw new TreadleError('HANDLER_INVALID', message)
}

function isClass(value: unknown): boolean {
  return typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value))
}

function invalid(job: string, handler: unknown): TreadleError {
  const got = isClass(handler) ? `class ${(handler as { name: string }).name} without a "handle" method` : `${typeof handler}`
  return new TreadleError(
    'HANDLER_INVALID',
    `The handler of "${job}" must be a function, or a class with a "handle" method (static or not), got ${got}`,
  )
}
