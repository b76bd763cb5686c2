import { integer, list, object, text, type ValueOf } from './shape.ts'

/** The body of an error response (RFC 9457). */
export const problem = object(
  {
    type: text({ description: 'The kind of problem: one of a fixed list of URNs, whose meaning never changes.' }),
    title: text({ description: 'The kind of problem in words.' }),
    status: integer({ description: 'The status of the response.' }),
    detail: text({ description: 'What is wrong this time, and what to do.' }),
  },
  {
    code: text({ description: 'The code of the error, if the library raised one.' }),
    errors: list(
      object({
        pointer: text({ description: 'Where: a JSON pointer into the body, `query:NAME`, `path:NAME` or `header:NAME`.' }),
        detail: text(),
      }),
      { description: 'Everything that is wrong with the request, at once.' },
    ),
  },
)
/** An error of the HTTP API, as problem details (RFC 9457). */
export type Problem = ValueOf<typeof problem>

interface Kind {
  readonly status: number
  readonly title: string
}

/** All kinds of problems. */
export const problemKinds = {
  'invalid-request': { status: 400, title: 'The request does not match the API' },
  'malformed-json': { status: 400, title: 'The body is not JSON' },
  unauthorized: { status: 401, title: 'A token is required' },
  forbidden: { status: 403, title: 'This is not allowed' },
  'not-found': { status: 404, title: 'There is nothing at this address' },
  'job-not-found': { status: 404, title: 'There is no such job' },
  'schedule-not-found': { status: 404, title: 'There is no such schedule' },
  'method-not-allowed': { status: 405, title: 'This method is not allowed' },
  'request-timeout': { status: 408, title: 'The request did not arrive in time' },
  'job-not-waiting': { status: 409, title: 'The job is no longer waiting' },
  'job-not-ended': { status: 409, title: 'The job has not ended' },
  'job-ended': { status: 409, title: 'The job has ended' },
  'unique-key-taken': { status: 409, title: 'Another job has its unique key' },
  'payload-encrypted': { status: 409, title: 'The payload is encrypted' },
  'lease-lost': { status: 409, title: 'The lease is no longer held' },
  'body-too-large': { status: 413, title: 'The body is too large' },
  'not-json': { status: 415, title: 'Only JSON is accepted' },
  'idempotency-key-reused': { status: 422, title: 'The Idempotency-Key was used with another body' },
  'too-many-failures': { status: 429, title: 'Too many wrong tokens' },
  'too-many-waiting': { status: 429, title: 'Too many requests are waiting for work' },
  'headers-too-large': { status: 431, title: 'The headers are too large' },
  'internal-error': { status: 500, title: 'The server failed' },
  'capability-missing': { status: 501, title: 'The backend cannot do this' },
  unavailable: { status: 503, title: 'The server cannot answer now' },
} as const satisfies Record<string, Kind>

/** The kinds of errors of the HTTP API. */
export type ProblemKind = keyof typeof problemKinds

export function problemType(kind: ProblemKind): string {
  return `urn:treadle:problem:${kind}`
}
