import { messageOf, TreadleError } from '../../../core/errors.ts'
import { causeThat } from '../connections/causes.ts'

/**
 * Converts an error of the caller's client to what the queue's own driver would have thrown. Prisma keeps only the code:
 * `withCode` makes an error like the driver's from it.
 */
export function foreignFailure(
  thrown: unknown,
  isDriverError: (thrown: unknown) => boolean,
  withCode: (code: string) => object,
): unknown {
  const known = causeThat(thrown, isDriverError)
  if (known !== undefined) return known
  const code = prismaCode(thrown)
  const message = messageOf(thrown)
  if (code !== undefined) return Object.assign(new Error(message, { cause: thrown }), withCode(code))
  return new TreadleError('DATABASE_FAILED', `The transaction refused a statement: ${message}`, { cause: thrown })
}

/** Where Prisma reports the database's error code: with a driver adapter, and with its own engine. */
interface PrismaError {
  readonly meta?: {
    readonly code?: unknown
    readonly driverAdapterError?: { readonly cause?: { readonly originalCode?: unknown } }
  }
}

function prismaCode(thrown: unknown): string | undefined {
  const { meta } = (thrown ?? {}) as PrismaError
  const code = meta?.driverAdapterError?.cause?.originalCode ?? meta?.code
  return typeof code === 'string' ? code : undefined
}
