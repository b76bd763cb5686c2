import { TreadleError } from '../../core/errors.ts'

/** What to write where a broker cannot keep something by itself. */
export const addCoordination =
  "Put a coordination store beside the broker, in the options or in treadle.config.ts: { coordination: 'redis://…' } (or sqlite:, postgres:, mysql:)"

/** A broker was asked for what needs a database. `problem` is a sentence without its full stop. */
export function coordinationMissing(problem: string): TreadleError {
  return new TreadleError('CAPABILITY_MISSING', `${problem}. ${addCoordination}`)
}
