import { messageOf, TreadleError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { toJson } from '../../core/text/json.ts'
import { shown } from '../../core/text/shown.ts'
import type { DefinitionFields } from '../../definition/fields.ts'

export interface ResultDeps {
  readonly maxResultBytes: number
  readonly services: { readonly logger: Logger }
}

/** Throws if the job or its program defines such a result as a failure. */
export function refuseFailure(result: unknown, { job, failWhen }: Pick<DefinitionFields, 'job' | 'failWhen'>): void {
  if (!failWhen.some((isFailure) => isFailure(result as never))) return
  throw new TreadleError('RESULT_FAILED', `Job "${job}" returned ${shown(result)}, which is a failure according to failWhen()`)
}

/** A result that is not JSON is no reason to repeat the work: it is left out, and that is logged. */
export function resultText(result: unknown, job: string, { services, maxResultBytes }: ResultDeps): string | null {
  if (result === undefined) return null
  try {
    return toJson(result, { what: `result of "${job}"`, maxBytes: maxResultBytes })
  } catch (thrown) {
    services.logger.warn(`${messageOf(thrown)}; it is not stored`)
    return null
  }
}
