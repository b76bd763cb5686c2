import { TreadleError } from '../../core/errors.ts'

/** Advice to show when a broker cannot store something by itself. */
export const addCoordination =
  "Put a coordination store beside the broker, in the options or in treadle.config.ts: { coordination: 'redis://…' } (or sqlite:, postgres:, mysql:)"

/** The error for a feature that a broker alone cannot provide. `problem` is a sentence without its full stop. */
export function coordinationMissing(problem: string): TreadleError {
  return new TreadleError('CAPABILITY_MISSING', `${problem}. ${addCoordination}`)
}
