import { TreadleError } from '../../core/errors.ts'
import { shown } from '../../core/text/shown.ts'
import type { Outgoing } from './dispatch-middleware.ts'

export function acrossBackends(names: readonly string[]): TreadleError {
  const message = `The jobs of a workflow must be in one backend, which knows what waits for what; these are in ${names.join(' and ')}. Give them the same backend, or dispatch one from the handler of the other.`
  return new TreadleError('CAPABILITY_MISSING', message)
}

export function notInThisTransaction(job: string, backend: string): string {
  return `Job "${job}" is kept in the backend "${backend}", and this transaction is on another one's database`
}

export function refuseOtherThanObject(options: unknown, job: string): void {
  if (typeof options === 'object' && options !== null) return
  const message = `Dispatch of "${job}": the options must be an object such as { delay: '5s' }, got ${shown(options)}`
  throw new TreadleError('CONFIG_INVALID', message)
}

/** The transaction applies to the whole workflow, so a step cannot have its own. */
export function refuseOwnTransaction({ definition, options }: Outgoing): void {
  if (!('in' in options)) return
  throw new TreadleError('CONFIG_INVALID', `Step "${definition.job}" of a workflow cannot be in a transaction of its own`)
}

export function notOpen(what: string): string {
  return `Dispatch of ${what} in a transaction on a SQLite file, which cannot wait for the queue to be opened: await jobs.open() before it`
}

export function takesTime(what: string): TreadleError {
  const message = `Dispatch of ${what} in a transaction on a SQLite file, which cannot wait: its schema must be synchronous, and its transaction one of the file itself`
  return new TreadleError('TRANSACTION_INVALID', message)
}
