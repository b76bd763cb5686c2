import { TreadleError } from '../../core/errors.ts'
import { isAmong } from '../../core/text/name-pattern.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import { addCoordination } from '../../queue/backend/missing-coordination.ts'
import type { QueueBackend, QueueLimits } from '../../queue/contract/contract.ts'
import type { WrittenPayload } from './sealing.ts'

/** Checked when a worker starts rather than when the first such job runs. `only` lists the jobs of the worker; null means all. */
export function refuseUndeliverable(
  definitions: readonly JobDefinition[],
  only: readonly string[] | null,
  { kind, transactions, coordination }: QueueBackend,
  queueLimits: readonly QueueLimits[],
): void {
  const own = definitions.filter(({ job }) => isAmong(only, job))
  const [problem] = [
    ...undeliverable(own, kind, transactions !== undefined),
    ...(coordination === undefined
      ? [...own.flatMap((each) => [...unkept(each, kind), ...uncoordinated(each, kind)]), ...unlimitedQueues(queueLimits, kind)]
      : []),
  ]
  if (problem !== undefined) throw new TreadleError('CAPABILITY_MISSING', problem)
}

/** Why this queue cannot provide the delivery guarantees of these jobs. */
export function undeliverable(definitions: readonly JobDefinition[], queue: string, hasTransactions: boolean): readonly string[] {
  if (hasTransactions) return []
  return definitions
    .filter(({ fields }) => fields.handler !== null && fields.delivery === 'effectively-once')
    .map(
      ({ job }) =>
        `Job "${job}" is effectively-once, which needs a queue in a SQL database, and ${queue} has no transactions. Use sqlite:FILE, or another delivery.`,
    )
}

/** Refuses a job whose keys or limits the backend cannot enforce. */
export function refuseUncoordinated(
  definition: JobDefinition,
  { uniqueKey, idempotencyKey }: WrittenPayload,
  { kind, coordination }: QueueBackend,
): void {
  if (coordination !== undefined) return
  const [problem] = [
    ...(uniqueKey === null ? [] : [needs(definition, 'a unique key', kind)]),
    ...(idempotencyKey === null ? [] : [needs(definition, 'an idempotency key', kind)]),
    ...uncoordinated(definition, kind),
  ]
  if (problem !== undefined) throw new TreadleError('CAPABILITY_MISSING', problem)
}

/** Keys of individual dispatches are checked when they are dispatched. */
function unkept(definition: JobDefinition, kind: string): readonly string[] {
  const { handler, idempotencyKey } = definition.fields
  return handler === null || idempotencyKey === null ? [] : [needs(definition, 'an idempotency key', kind)]
}

/** Features of a definition that require state shared by all workers. */
function uncoordinated(definition: JobDefinition, kind: string): readonly string[] {
  const { rate, group } = definition.fields
  const hasGroupLimit = group !== null && (group.concurrency !== null || group.rate !== null)
  return [
    ...(definition.concurrency === null ? [] : [needs(definition, 'a limit on how many run at once', kind)]),
    ...(rate === null ? [] : [needs(definition, 'a rate limit', kind)]),
    ...(hasGroupLimit ? [needs(definition, 'a limit for groups', kind)] : []),
  ]
}

function needs({ job }: JobDefinition, what: string, kind: string): string {
  return `Job "${job}" has ${what}, which needs a state that all workers share, and ${kind} has none. ${addCoordination}`
}

function unlimitedQueues(queueLimits: readonly QueueLimits[], kind: string): readonly string[] {
  return queueLimits.map(({ queue }) => `The queue "${queue}" has limits, which ${kind} cannot keep. ${addCoordination}`)
}
