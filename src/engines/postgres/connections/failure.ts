import { messageOf, TreadleError } from '../../../core/errors.ts'

/** A statement that the server should have kept is not there, or one is there that it should not have: a pooler is in between. */
const misprepared = new Set(['26000', '42P05'])
/** The server has undone a transaction for the sake of others: a serialization failure, a deadlock. */
const undone = new Set(['40001', '40P01', ...misprepared])
/** Somebody had a lock for longer than the user's `lock_timeout`. */
const locked = '55P03'
const uniqueViolation = '23505'
/** The server only reads: it was made a standby of another one. */
const readOnly = '25006'
/** The server goes away, is starting, takes no more connections, or ended one that was idle for too long. */
const unreachable = new Set([
  ...['08000', '08001', '08003', '08004', '08006', '08007', '08P01', '25P03', '25P04', '53300'],
  ...['57P01', '57P02', '57P03', '57P04', '57P05', readOnly],
])
/** Somebody, or a limit, ended the statement. */
const cancelled = '57014'
const denied = '42501'
/** The user or the password is wrong, or the server lets nobody of that name in from here. */
const notLetIn = new Set(['28000', '28P01'])
const noDatabase = '3D000'

const writableAdvice =
  'Name the server that takes writes in the URL; where it is this one, turn default_transaction_read_only off for the user: npx treadle doctor tells how.'

/** Whether a transaction that failed so should be tried again. */
export function isTransient(thrown: unknown): boolean {
  return stateOf(thrown) === locked || isUndone(thrown)
}

/** Whether also a transaction of a handler should, which may have asked for a lock without waiting for it. */
export function isUndone(thrown: unknown): boolean {
  return undone.has(stateOf(thrown) ?? '')
}

/** Whether statements cannot be kept by the server. */
export function isMisprepared(thrown: unknown): boolean {
  return misprepared.has(stateOf(thrown) ?? '')
}

/** Whether a statement failed because another row has the same unique value. */
export function isDuplicate(thrown: unknown): boolean {
  return stateOf(thrown) === uniqueViolation
}

/** Whether the server no longer takes writes, though another one may. */
export function isDemoted(thrown: unknown): boolean {
  return stateOf(thrown) === readOnly
}

/** What the driver threw, in words of the queue. */
export function postgresFailure(thrown: unknown): TreadleError {
  if (thrown instanceof TreadleError) return thrown
  const state = stateOf(thrown)
  const message = messageOf(thrown)
  const options = { cause: thrown }
  if (state === readOnly)
    return new TreadleError('DATABASE_UNREACHABLE', `PostgreSQL only reads: ${message}. ${writableAdvice}`, options)
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
      `PostgreSQL lets nobody in with this URL: ${message} (${state}). ${advice}`,
      options,
    )
  }
  if (state === noDatabase) {
    const advice = 'Check the name in the URL, or make it: CREATE DATABASE. Treadle makes its tables, and no database.'
    return new TreadleError('DATABASE_NOT_FOUND', `The URL names a database that is not there: ${message}. ${advice}`, options)
  }
  return new TreadleError('DATABASE_FAILED', `PostgreSQL refused: ${message} (${state})`, options)
}

/** Whatever the server says, what was begun on the connection is over. */
export function noConnection(cause: unknown): TreadleError {
  return new TreadleError('DATABASE_UNREACHABLE', `PostgreSQL cannot be reached: ${messageOf(cause)}`, { cause })
}

/** The SQLSTATE of an error of the server; undefined for one of the connection, which has no severity. */
export function stateOf(thrown: unknown): string | undefined {
  const { code, severity } = ((thrown instanceof TreadleError ? thrown.cause : thrown) ?? {}) as Partial<Record<string, unknown>>
  return typeof code === 'string' && typeof severity === 'string' ? code : undefined
}
