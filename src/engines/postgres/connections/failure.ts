import { messageOf, TreadleError } from '../../../core/errors.ts'

/** A prepared statement is missing, or exists where it should not: there is a pooler in between. */
const misprepared = new Set(['26000', '42P05'])
/** The server rolled back the transaction because of a serialization failure or a deadlock. */
const undone = new Set(['40001', '40P01', ...misprepared])
/** The user's `lock_timeout` expired while waiting for a lock. */
const locked = '55P03'
const uniqueViolation = '23505'
/** The server is read-only: it has become a standby. */
const readOnly = '25006'
/** The server is shutting down or starting, accepts no more connections, or closed one that was idle for too long. */
const unreachable = new Set([
  ...['08000', '08001', '08003', '08004', '08006', '08007', '08P01', '25P03', '25P04', '53300'],
  ...['57P01', '57P02', '57P03', '57P04', '57P05', readOnly],
])
/** The statement was cancelled by a user or by a timeout. */
const cancelled = '57014'
const denied = '42501'
/** Wrong user or password, or the server does not admit this user from this host. */
const notLetIn = new Set(['28000', '28P01'])
const noDatabase = '3D000'

const writableAdvice =
  'Name the primary server in the URL; if it is this one, turn default_transaction_read_only off for the user: npx treadle doctor says how.'

/** Whether a transaction that failed with this error should be retried. */
export function isTransient(thrown: unknown): boolean {
  return stateOf(thrown) === locked || isUndone(thrown)
}

/**
 * Whether a handler's transaction should be retried as well. Excludes lock timeouts: the handler may have asked for a lock with
 * NOWAIT.
 */
export function isUndone(thrown: unknown): boolean {
  return undone.has(stateOf(thrown) ?? '')
}

/** Whether the error shows that prepared statements do not work on this connection. */
export function isMisprepared(thrown: unknown): boolean {
  return misprepared.has(stateOf(thrown) ?? '')
}

/** Whether a statement failed on a unique constraint. */
export function isDuplicate(thrown: unknown): boolean {
  return stateOf(thrown) === uniqueViolation
}

/** Whether the server no longer accepts writes, though another one may. */
export function isDemoted(thrown: unknown): boolean {
  return stateOf(thrown) === readOnly
}

/** Translates an error of the driver. */
export function postgresFailure(thrown: unknown): TreadleError {
  if (thrown instanceof TreadleError) return thrown
  const state = stateOf(thrown)
  const message = messageOf(thrown)
  const options = { cause: thrown }
  if (state === readOnly)
    return new TreadleError('DATABASE_UNREACHABLE', `PostgreSQL is read-only: ${message}. ${writableAdvice}`, options)
  if (state === undefined || unreachable.has(state)) {
    return noConnection(thrown)
  }
  if (state === cancelled || state === locked) {
    return new TreadleError('DATABASE_BUSY', `PostgreSQL ended a statement: ${message}`, options)
  }
  if (state === denied) return new TreadleError('DATABASE_DENIED', `PostgreSQL does not allow it: ${message}`, options)
  if (notLetIn.has(state)) {
    const advice = 'Check the user and the password in the URL.'
    return new TreadleError(
      'DATABASE_FAILED',
      `PostgreSQL refuses the login of this URL: ${message} (${state}). ${advice}`,
      options,
    )
  }
  if (state === noDatabase) {
    const advice = 'Check the name in the URL, or create it: CREATE DATABASE. Treadle creates its tables, but no database.'
    return new TreadleError('DATABASE_NOT_FOUND', `The URL names a database that does not exist: ${message}. ${advice}`, options)
  }
  return new TreadleError('DATABASE_FAILED', `PostgreSQL refused: ${message} (${state})`, options)
}

/** Whatever the server's error code, anything in progress on the connection is lost. */
export function noConnection(cause: unknown): TreadleError {
  return new TreadleError('DATABASE_UNREACHABLE', `PostgreSQL cannot be reached: ${messageOf(cause)}`, { cause })
}

/** The SQLSTATE of a server error; undefined for a connection error, which has no severity. */
export function stateOf(thrown: unknown): string | undefined {
  const { code, severity } = ((thrown instanceof TreadleError ? thrown.cause : thrown) ?? {}) as Partial<Record<string, unknown>>
  return typeof code === 'string' && typeof severity === 'string' ? code : undefined
}
