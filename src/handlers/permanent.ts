import { PermanentError, type TreadleError } from '../core/errors.ts'

/** The same error, marked so that it is not retried. The original error with its code is the cause. */
export function permanent(error: TreadleError): PermanentError {
  return new PermanentError(error.message, { cause: error })
}
