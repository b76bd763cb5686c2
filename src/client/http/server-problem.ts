import { type ErrorCode, errorCodes, TreadleError } from '../../core/errors.ts'
import type { Problem } from '../api/problem.ts'

/** The server refused the request. */
export class ServerProblem extends TreadleError {
  /** As sent by the server. */
  readonly problem: Problem

  constructor(problem: Problem) {
    super(codeOf(problem), problem.detail)
    this.problem = problem
  }
}

function codeOf({ code }: Problem): ErrorCode {
  return errorCodes.find((known) => known === code) ?? 'SERVER_REFUSED'
}
