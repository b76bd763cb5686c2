import { messageOf, TreadleError } from '../../../core/errors.ts'

/** Errors after which the same transaction may well go through: a deadlock, a wait for a lock that was too long, a row that changed. */
const transient = new Set([1213, 1205, 1020])
const duplicates = new Set([1062, 1586])
const locked = 3572
const unprepared = 1295
/** A right is missing: to a database, a table, a column, a setting, a routine. */
const denied = new Set([1044, 1142, 1143, 1227, 1370])
/** The user or the password is wrong, or the server lets nobody of that name in from here. */
const notLetIn = 1045
const noDatabase = 1049
/** The server only reads: it was made a replica of another one. */
const demoted = new Set([1290, 1792, 1836])
/** The server goes away, was told to drop the connection, or takes no more of them. */
const unreachable = new Set([...demoted, 1040, 1053, 1080, 1152, 1158, 1159, 1160, 1161, 1203, 1927, 3032, 4031])

export const writableAdvice =
  'Name the server that takes writes in the URL; where it is this one, an administrator can run: SET GLOBAL read_only = OFF;'

/** Whether a transaction that failed so should be tried again. */
export function isTransient(thrown: unknown): boolean {
  return transient.has(numberOf(thrown) ?? 0)
}

/** Whether a row was refused because another one has its key. */
export function isDuplicate(thrown: unknown): boolean {
  return duplicates.has(numberOf(thrown) ?? 0)
}

/** Whether somebody has a lock on what was asked for without a wait. */
export function isLocked(thrown: unknown): boolean {
  return numberOf(thrown) === locked
}

/** Whether the server takes the statement, but not prepared. */
export function isUnprepared(thrown: unknown): boolean {
  return numberOf(thrown) === unprepared
}

/** Whether the server no longer takes writes, though another one may. */
export function isDemoted(thrown: unknown): boolean {
  return demoted.has(numberOf(thrown) ?? 0)
}

/** What the driver threw, in words of the queue. */
export function mysqlFailure(thrown: unknown): TreadleError {
  if (thrown instanceof TreadleError) return thrown
  hideValues(thrown)
  const number = numberOf(thrown)
  const message = messageOf(thrown)
  const options = { cause: thrown }
  if (number !== undefined && demoted.has(number)) {
    return new TreadleError('DATABASE_UNREACHABLE', `MySQL only reads: ${message}. ${writableAdvice}`, options)
  }
  if (number === undefined || unreachable.has(number)) {
    return new TreadleError('DATABASE_UNREACHABLE', `MySQL cannot be reached: ${message}`, options)
  }
  if (denied.has(number)) return new TreadleError('DATABASE_DENIED', `MySQL does not allow it: ${message}`, options)
  if (number === notLetIn) {
    const advice = 'Check the user and the password in the URL.'
    return new TreadleError('DATABASE_FAILED', `MySQL lets nobody in with this URL: ${message} (${number}). ${advice}`, options)
  }
  if (number === noDatabase) {
    const advice = 'Check the name in the URL, or make it: CREATE DATABASE. Treadle makes its tables, and no database.'
    return new TreadleError('DATABASE_NOT_FOUND', `The URL names a database that is not there: ${message}. ${advice}`, options)
  }
  return new TreadleError('DATABASE_FAILED', `MySQL refused: ${message} (${number})`, options)
}

/** The server's errors have numbers of their own; those of the system are negative. */
export function numberOf(thrown: unknown): number | undefined {
  const number = ((thrown instanceof TreadleError ? thrown.cause : thrown) as { errno?: unknown } | null | undefined)?.errno
  return typeof number === 'number' && number > 0 ? number : undefined
}

/** The driver keeps the statement with its error, and with it whatever jobs carry: not for a log. */
function hideValues(thrown: unknown): void {
  const failed = thrown as { sql?: unknown } | null
  if (typeof failed?.sql === 'string') failed.sql = failed.sql.split("'", 1)[0]
}
