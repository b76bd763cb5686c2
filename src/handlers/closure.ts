import { TreadleError } from '../core/errors.ts'
import type { JobContext } from '../definition/context.ts'
import type { HandlerFunction } from '../definition/handler.ts'

/** A handler for jobs without a payload, such as most recurring ones: `closure((ctx) => sweep({ signal: ctx.signal }))`. */
export function closure<Result>(
  run: (context: JobContext<null | undefined>) => Result | Promise<Result>,
): HandlerFunction<null | undefined, Result> {
  if (typeof run !== 'function') throw new TreadleError('HANDLER_INVALID', `closure takes a function, got ${typeof run}`)
  return (_payload, context) => run(context)
}
