import { messageOf, TreadleError } from '../../core/errors.ts'

/** Errors after which the same transaction may well go through: a serialization failure, a deadlock. */
const transient = new Set(['40001', '40P01'])
const uniqueViolation = '23505'
/** The server goes away, is starting, or takes no more connections. */
const unreachable = new Set(['57P01', '57P02', '57P03', '53300', '08000', '08001', '08003', '08004', '08006', '08007', '08P01'])

/** Whether a transaction that failed so should be tried again. */
export function isTransient(thrown: unknown): boolean {
  return transient.has(causeOf(thrown) ?? '')
}

/** Whether a statement failed because another row has the same unique value. */
export function isDuplicate(thrown: unknown): boolean {
  return causeOf(thrown) === uniqueViolation
}

/** What the driver threw, in words of the queue. */
export function postgresFailure(thrown: unknown): TreadleError {
  if (thrown instanceof TreadleError) return thrown
  const code = codeOf(thrown)
  const message = messageOf(thrown)
  if (code === undefined || !/^[0-9A-Z]{5}$/.test(code) || unreachable.has(code)) {
    return new TreadleError('DATABASE_UNREACHABLE', `PostgreSQL can not be reached: ${message}`, { cause: thrown })
  }
  return new TreadleError('DATABASE_FAILED', `PostgreSQL refused: ${message} (${code})`, { cause: thrown })
}

function causeOf(thrown: unknown): string | undefined {
  return codeOf(thrown instanceof TreadleError ? thrown.cause : thrown)
}

function codeOf(thrown: unknown): string | undefined {
  const code = (thrown as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : undefined
}
