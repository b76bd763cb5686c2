import { TreadleError } from '../../core/errors.ts'
import { shown } from '../../core/text/shown.ts'

/** JavaScript programs can leave the limit out, and each database would make something else of that. */
export function refuseWrongLimit({ limit }: { readonly limit: number }, what: string): void {
  if (Number.isInteger(limit)) return
  throw new TreadleError(
    'CONFIG_INVALID',
    `${what} needs a whole number as its limit, such as { limit: 100 }, got ${shown(limit)}`,
  )
}
