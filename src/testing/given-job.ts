import { TreadleError } from '../core/errors.ts'
import { shown } from '../core/text/shown.ts'
import { JobDefinition } from '../definition/definition.ts'
import { classKey, handlerClassOf } from '../definition/handler.ts'

/** The job that a helper was given: a builder, a definition, or what a class would be without any settings. */
export function jobOf(given: unknown, helper: string): { readonly job: string; toDefinition(): JobDefinition } {
  const handler = handlerClassOf(given)
  if (handler !== null) return new JobDefinition({ job: classKey(handler), handler })
  if (typeof given === 'object' && given !== null && 'toDefinition' in given) return given as JobDefinition
  throw new TreadleError('JOB_UNKNOWN', `${helper}() takes a builder, a definition or a class with "handle", got ${shown(given)}`)
}
