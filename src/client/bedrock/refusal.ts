import { TreadleError } from '../../core/errors.ts'
import type { BedrockResponse } from './wire.ts'

/** The server refused the request. */
export class BedrockRefusal extends TreadleError {
  /** As on the wire: 402, 404, 405, … */
  readonly status: number
  /** As on the wire: `No job with this jobID`. */
  readonly reason: string

  constructor(method: string, { status, reason, body }: BedrockResponse) {
    super(
      'SERVER_REFUSED',
      `The job server refused ${method}: ${status} ${reason}${body === '' ? '' : ` (${body.slice(0, 500)})`}`,
    )
    this.status = status
    this.reason = reason
  }
}
