import { type Problem, type ProblemKind, problemKinds, problemType } from '../../../client/api/problem.ts'
import { type ErrorCode, TreadleError } from '../../../core/errors.ts'
import type { Fault } from './checking.ts'

export interface ProblemParts {
  readonly code?: ErrorCode
  readonly errors?: readonly Fault[]
  readonly headers?: Readonly<Record<string, string>>
}

/** Thrown when a request cannot be fulfilled. */
export class HttpProblem extends Error {
  override readonly name = 'HttpProblem'
  readonly kind: ProblemKind
  readonly parts: ProblemParts

  constructor(kind: ProblemKind, detail: string, parts: ProblemParts = {}) {
    super(detail)
    this.kind = kind
    this.parts = parts
  }

  get status(): number {
    return problemKinds[this.kind].status
  }

  toJSON(): Problem {
    const { code, errors } = this.parts
    return {
      type: problemType(this.kind),
      title: problemKinds[this.kind].title,
      status: this.status,
      detail: this.message,
      ...(code !== undefined && { code }),
      ...(errors !== undefined && { errors }),
    }
  }
}

export function invalidRequest(errors: readonly Fault[]): HttpProblem {
  const said = errors.map(({ pointer, detail }) => `${pointer === '' ? 'the body' : pointer} ${detail}`)
  return new HttpProblem('invalid-request', said.join('; '), { errors })
}

export function noSuchJob(id: string): HttpProblem {
  const detail = `There is no job ${JSON.stringify(id)}: it never existed, or its retention period has passed`
  return new HttpProblem('job-not-found', detail, { code: 'RUN_NOT_FOUND' })
}

/** Errors whose messages may be shown, because they are about the request and not about the server. */
const kinds: Partial<Record<ErrorCode, ProblemKind>> = {
  CAPABILITY_MISSING: 'capability-missing',
  CONFIG_INVALID: 'invalid-request',
  DEFINITION_INVALID: 'invalid-request',
  DURATION_INVALID: 'invalid-request',
  INSTANT_INVALID: 'invalid-request',
  PAYLOAD_INVALID: 'invalid-request',
  PAYLOAD_NOT_JSON: 'invalid-request',
  PAYLOAD_TOO_LARGE: 'body-too-large',
  RUN_ENDED: 'job-not-waiting',
  RUN_NOT_FOUND: 'job-not-found',
  SCHEDULE_INVALID: 'invalid-request',
  SCHEDULE_UNKNOWN: 'schedule-not-found',
}

const passing: Partial<Record<ErrorCode, string>> = {
  BACKEND_CLOSED: 'The server is being stopped',
  DATABASE_BUSY: 'The database is busy',
  DATABASE_UNREACHABLE: 'The database cannot be reached',
  KEY_CONTENDED: 'The job with this unique key is being changed by others',
}

/**
 * The problem to report to the client. Null if the client should only learn that something failed; the details belong in the log.
 */
export function problemOf(thrown: unknown): HttpProblem | null {
  if (thrown instanceof HttpProblem) return thrown
  if (!(thrown instanceof TreadleError)) return null
  const { code, message } = thrown
  const kind = kinds[code]
  if (kind !== undefined) return new HttpProblem(kind, message, { code })
  const detail = passing[code]
  return detail === undefined ? null : new HttpProblem('unavailable', detail, { code, headers: { 'retry-after': '1' } })
}
