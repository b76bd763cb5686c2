import { maskError, masked } from './text/masking.ts'
import { shown } from './text/shown.ts'
import { visible } from './text/visible.ts'

/** Every error code. `docs/errors.md` explains each of them; a code never changes its meaning. */
export const errorCodes = [
  'BACKEND_CLOSED',
  'BACKEND_UNKNOWN',
  'CAPABILITY_MISSING',
  'CONFIG_INVALID',
  'CONFIG_LOAD_FAILED',
  'CONFIG_NOT_FOUND',
  'DATABASE_BUSY',
  'DATABASE_CORRUPT',
  'DATABASE_DENIED',
  'DATABASE_FAILED',
  'DATABASE_NOT_FOUND',
  'DATABASE_REPLACED',
  'DATABASE_UNREACHABLE',
  'DATABASE_UNWRITABLE',
  'DEFINITION_FROZEN',
  'DEFINITION_INVALID',
  'DELIVERY_INVALID',
  'DISPATCH_INCOMPLETE',
  'DRIVER_MISSING',
  'DURATION_INVALID',
  'ENVELOPE_MALFORMED',
  'FILE_UNTRUSTED',
  'HANDLER_DENIED',
  'HANDLER_INVALID',
  'IMPORT_INVALID',
  'INSTANT_INVALID',
  'ISOLATE_CRASHED',
  'JOB_DUPLICATE',
  'JOB_UNKNOWN',
  'KEY_CONTENDED',
  'KEY_INVALID',
  'KEY_UNKNOWN',
  'LEASE_LOST',
  'LISTEN_FAILED',
  'MOVE_REFUSED',
  'NODE_UNSUPPORTED',
  'PACKAGE_BUNDLED',
  'PAYLOAD_INVALID',
  'PAYLOAD_NOT_JSON',
  'PAYLOAD_TOO_LARGE',
  'PROGRAM_FAILED',
  'REQUEST_FAILED',
  'RESULT_FAILED',
  'RESULT_FORGED',
  'RESULT_INVALID',
  'RUN_ENDED',
  'RUN_FAILED',
  'RUN_NOT_FOUND',
  'SCHEDULER_LOCKED',
  'SCHEDULER_OVERRUN',
  'SCHEDULE_INVALID',
  'SCHEDULE_UNKNOWN',
  'SCHEMA_OUTDATED',
  'SCHEMA_TOO_NEW',
  'SERVER_REFUSED',
  'SERVER_UNREACHABLE',
  'SIGNATURE_INVALID',
  'SIGNATURE_MISSING',
  'STOPPED',
  'TIMEOUT',
  'TRANSACTION_INVALID',
  'URL_REFUSED',
  'WAIT_TIMEOUT',
  'WORKER_RUNNING',
  'WORKFLOW_CIRCULAR',
] as const

/** The stable code of a `TreadleError`; docs/errors.md explains each of them. */
export type ErrorCode = (typeof errorCodes)[number]

/**
 * The error class of this library, with a stable `code`, a message that says what to do, and a cause if there is one. Neither the
 * message nor the cause contains passwords, even if a driver's message quotes one.
 */
export class TreadleError extends Error {
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    // Messages quote names and texts that others have chosen, and are printed wherever the error ends up.
    super(visible(shortened(masked(message))), options)
    maskError(options?.cause)
    this.name = 'TreadleError'
    this.code = code
  }
}

/** Whether a call failed because the database could not be reached or did not answer. */
export function isUnreachable(thrown: unknown): thrown is TreadleError {
  return isThrown(thrown, TreadleError) && thrown.code === 'DATABASE_UNREACHABLE'
}

/** Whether a call failed because the database is unavailable or busy, so that the same call may work later. */
export function isPassing(thrown: unknown): thrown is TreadleError {
  return isThrown(thrown, TreadleError) && passing.has(thrown.code)
}

const passing: ReadonlySet<ErrorCode> = new Set(['DATABASE_UNREACHABLE', 'DATABASE_BUSY'])

/** Longer than any list of problems, and shorter than a name with which someone wants to fill a log. */
const longestMessage = 10_000

function shortened(message: string): string {
  if (message.length <= longestMessage) return message
  return `${message.slice(0, longestMessage)}… (${message.length} characters)`
}

/** Throw this from a handler for a failure that retrying cannot fix: the job becomes `dead` at once. */
export class PermanentError extends Error {
  override readonly name = 'PermanentError'
}

/** `instanceof` that never throws: a thrown value may be anything, including a proxy that throws when inspected. */
export function isThrown<Kind>(thrown: unknown, kind: abstract new (...args: never[]) => Kind): thrown is Kind {
  try {
    return thrown instanceof kind
  } catch {
    return false
  }
}

/** The message of any thrown value, `Error` or not, without passwords. Never throws. */
export function messageOf(thrown: unknown): string {
  return masked(ownMessage(thrown))
}

function ownMessage(thrown: unknown): string {
  try {
    if (typeof thrown === 'string') return thrown
    const message = typeof thrown === 'object' && thrown !== null ? (thrown as { message?: unknown }).message : undefined
    if (typeof message === 'string' && message !== '') return message
    if (thrown instanceof Error) return message ? shown(message) : String(thrown.name)
  } catch {
    return `thrown: a value of type ${typeof thrown} that has no text`
  }
  return `thrown: ${shown(thrown)}`
}
