import { maskError, masked } from './text/masking.ts'
import { shown } from './text/shown.ts'

/** Every reason for which Treadle throws. `docs/errors.md` explains each; a code never changes its meaning. */
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

/** The stable code of a `TreadleError`; docs/errors.md explains each. */
export type ErrorCode = (typeof errorCodes)[number]

/**
 * The one error class of the library: a stable `code`, a message that says what to do, and the cause where there is one. Neither
 * holds a password, whatever the message of a driver quotes.
 */
export class TreadleError extends Error {
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(masked(message), options)
    maskError(options?.cause)
    this.name = 'TreadleError'
    this.code = code
  }
}

/** Thrown by a handler for a failure that retrying cannot fix: the job goes to `dead` at once. */
export class PermanentError extends Error {
  override readonly name = 'PermanentError'
}

/** What was thrown can be anything, also something that does not let itself be asked what it is. */
export function isThrown<Kind>(thrown: unknown, kind: abstract new (...args: never[]) => Kind): thrown is Kind {
  try {
    return thrown instanceof kind
  } catch {
    return false
  }
}

/** The message of anything that was thrown, `Error` or not, without passwords. It never throws, whatever a program throws at it. */
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
