import { messageOf, TreadleError } from '../../core/errors.ts'

/**
 * What a client of the caller threw, as the queue's own driver would have thrown it: libraries wrap the errors of their drivers, and
 * Prisma keeps of them only the code. `withCode` writes a code as the driver does.
 */
export function foreignFailure(
  thrown: unknown,
  isDriverError: (thrown: unknown) => boolean,
  withCode: (code: string) => object,
): unknown {
  const seen = new Set<unknown>()
  for (let error = thrown; error instanceof Error && !seen.has(error); error = error.cause) {
    if (isDriverError(error)) return error
    seen.add(error)
  }
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
