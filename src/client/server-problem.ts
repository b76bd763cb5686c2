import { type ErrorCode, errorCodes, TreadleError } from '../core/errors.ts'
import type { Problem } from './api/problem.ts'

/** The server did not do what it was asked for. */
export class ServerProblem extends TreadleError {
  /** As the server said it. */
  readonly problem: Problem

  constructor(problem: Problem) {
    super(codeOf(problem), problem.detail)
    this.problem = problem
  }
}

function codeOf({ code }: Problem): ErrorCode {
  return errorCodes.find((known) => known === code) ?? 'SERVER_REFUSED'
}
