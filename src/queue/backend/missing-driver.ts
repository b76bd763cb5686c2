import { messageOf, TreadleError } from '../../core/errors.ts'

/** Drivers are loaded on demand, so that users of other backends need not install them. */
export function missingDriver(kind: string, packageName: string, cause: unknown): TreadleError {
  const message = `The ${kind} backend needs the package "${packageName}". Run: npm install ${packageName} (${messageOf(cause)})`
  return new TreadleError('DRIVER_MISSING', message, { cause })
}
