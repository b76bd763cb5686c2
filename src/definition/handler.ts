import { TreadleError } from '../core/errors.ts'
import type { JobContext } from './context.ts'

/** The work itself. What it returns is stored as the result and must be JSON. */
export type HandlerFunction<Payload, Result> = (payload: Payload, context: JobContext<Payload>) => Result | Promise<Result>

/** A class with a static `handle`, or with one on its instances; an instance is made for each run, without arguments. */
export type HandlerClass<Payload, Result> =
  | { readonly name: string; handle: HandlerFunction<Payload, Result> }
  | (new () => { handle: HandlerFunction<Payload, Result> })

export type Handler<Payload, Result> = HandlerFunction<Payload, Result> | HandlerClass<Payload, Result>

/**
 * Handlers that reach out of the program carry this mark. They run only on queues whose allowlist names the job.
 */
export const restricted: unique symbol = Symbol.for('treadle.restricted')

/** The function to call for a handler of any form: a static `handle` first, then one of an instance, then the function itself. */
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

/** To call one runs nothing of it. */
function refuseGenerator(job: string, handler: unknown): void {
  if (!/GeneratorFunction\]$/.test(Object.prototype.toString.call(handler))) return
  const message = `The handler of "${job}" must be a function that does the work when it is called, got a generator function: leave out the "*"`
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
