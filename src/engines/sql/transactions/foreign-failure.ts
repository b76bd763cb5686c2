import { messageOf, TreadleError } from '../../../core/errors.ts'
import { causeThat } from '../connections/causes.ts'

/**
 * What a client of the caller threw, as the queue's own driver would have thrown it. Prisma keeps only the code: `withCode` writes it
 * as the driver does.
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

/** Where Prisma says which error of the database it was: with a driver adapter, and with an engine of its own. */
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
