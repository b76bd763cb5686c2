import { messageOf, TreadleError } from '../../../core/errors.ts'

/** Errors after which a retry of the transaction may succeed: a deadlock, a lock wait timeout, a row that has changed. */
const transient = new Set([1213, 1205, 1020])
const duplicates = new Set([1062, 1586])
const locked = 3572
const unprepared = 1295
/** A missing privilege on a database, table, column, setting or routine. */
const denied = new Set([1044, 1142, 1143, 1227, 1370])
/** Wrong user or password, or the server does not admit this user from this host. */
const notLetIn = 1045
const noDatabase = 1049
/** The server is read-only: it has become a replica. */
const demoted = new Set([1290, 1792, 1836])
/** The server is shutting down, was told to drop the connection, or accepts no more connections. */
const unreachable = new Set([...demoted, 1040, 1053, 1080, 1152, 1158, 1159, 1160, 1161, 1203, 1927, 3032, 4031])

export const writableAdvice =
  'Name the primary server in the URL; if it is this one, an administrator can run: SET GLOBAL read_only = OFF;'

/** Whether a transaction that failed with this error should be retried. */
export function isTransient(thrown: unknown): boolean {
  return transient.has(numberOf(thrown) ?? 0)
}

/** Whether a row was rejected because of a duplicate key. */
export function isDuplicate(thrown: unknown): boolean {
  return duplicates.has(numberOf(thrown) ?? 0)
}

/** Whether a NOWAIT lock request failed because another transaction holds the lock. */
export function isLocked(thrown: unknown): boolean {
  return numberOf(thrown) === locked
}

/** Whether the server accepts the statement, but not as a prepared one. */
export function isUnprepared(thrown: unknown): boolean {
  return numberOf(thrown) === unprepared
}

/** Whether the server no longer accepts writes, though another one may. */
export function isDemoted(thrown: unknown): boolean {
  return demoted.has(numberOf(thrown) ?? 0)
}

/** Translates an error of the driver. */
export function mysqlFailure(thrown: unknown): TreadleError {
  if (thrown instanceof TreadleError) return thrown
  hideValues(thrown)
  const number = numberOf(thrown)
  const message = messageOf(thrown)
  const options = { cause: thrown }
  if (number !== undefined && demoted.has(number)) {
    return new TreadleError('DATABASE_UNREACHABLE', `MySQL is read-only: ${message}. ${writableAdvice}`, options)
  }
  if (number === undefined || unreachable.has(number)) {
    return new TreadleError('DATABASE_UNREACHABLE', `MySQL cannot be reached: ${message}`, options)
  }
  if (denied.has(number)) return new TreadleError('DATABASE_DENIED', `MySQL does not allow it: ${message}`, options)
  if (number === notLetIn) {
    const advice = 'Check the user and the password in the URL.'
    return new TreadleError('DATABASE_FAILED', `MySQL refuses the login of this URL: ${message} (${number}). ${advice}`, options)
  }
  if (number === noDatabase) {
    const advice = 'Check the name in the URL, or create it: CREATE DATABASE. Treadle creates its tables, but no database.'
    return new TreadleError('DATABASE_NOT_FOUND', `The URL names a database that does not exist: ${message}. ${advice}`, options)
  }
  return new TreadleError('DATABASE_FAILED', `MySQL refused: ${message} (${number})`, options)
}

/** The server's error number; undefined for system errors, whose numbers are negative. */
export function numberOf(thrown: unknown): number | undefined {
  const number = ((thrown instanceof TreadleError ? thrown.cause : thrown) as { errno?: unknown } | null | undefined)?.errno
  return typeof number === 'number' && number > 0 ? number : undefined
}

/** The driver attaches the statement to its error, including job payloads, which must not end up in logs. */
function hideValues(thrown: unknown): void {
  const failed = thrown as { sql?: unknown } | null
  if (typeof failed?.sql === 'string') failed.sql = failed.sql.split("'", 1)[0]
}
