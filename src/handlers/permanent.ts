import { PermanentError, type TreadleError } from '../core/errors.ts'

/** The same failure as one that no other attempt can mend; the coded error stays readable as its cause. */
export function permanent(error: TreadleError): PermanentError {
  return new PermanentError(error.message, { cause: error })
}
