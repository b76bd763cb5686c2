import type { QueueBackend } from '../backends/contract.ts'
import { TreadleError } from '../core/errors.ts'
import type { JobDefinition } from '../definition/definition.ts'

/** Told when a worker starts, and not by the first job at night. `only` are the jobs that the worker is for; null is all. */
export function refuseUndeliverable(
  definitions: readonly JobDefinition[],
  only: readonly string[] | null,
  { kind, transactions }: QueueBackend,
): void {
  const own = definitions.filter(({ job }) => only?.includes(job) ?? true)
  const [problem] = undeliverable(own, kind, transactions !== undefined)
  if (problem !== undefined) throw new TreadleError('CAPABILITY_MISSING', problem)
}

/** Why this queue can not run jobs as they want to be delivered. */
export function undeliverable(definitions: readonly JobDefinition[], queue: string, hasTransactions: boolean): readonly string[] {
  if (hasTransactions) return []
  return definitions
    .filter(({ fields }) => fields.handler !== null && fields.delivery === 'effectively-once')
    .map(
      ({ job }) =>
        `Job "${job}" is effectively-once, which needs a queue in a SQL database, and ${queue} has no transactions. Use sqlite:FILE, or another delivery.`,
    )
}
