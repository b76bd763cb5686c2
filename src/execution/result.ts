import { messageOf } from '../core/errors.ts'
import { toJson } from '../core/json.ts'
import type { Logger } from '../core/logger.ts'

export interface ResultDeps {
  readonly maxResultBytes: number
  readonly services: { readonly logger: Logger }
}

/** A result that is not JSON is no reason to do the work again: it is left out, and said. */
export function resultText(result: unknown, job: string, { services, maxResultBytes }: ResultDeps): string | null {
  if (result === undefined) return null
  try {
    return toJson(result, { what: `result of "${job}"`, maxBytes: maxResultBytes })
  } catch (thrown) {
    services.logger.warn(`${messageOf(thrown)}; it is not stored`)
    return null
  }
}
