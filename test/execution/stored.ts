import type { JobBuilder } from '../../src/definition/builder.ts'
import { sealEnvelope } from '../../src/envelope/envelope.ts'
import type { World } from '../world.ts'

/** Stores an occurrence of a job's schedule now, as a scheduler would. */
export async function store(
  { backend, clock }: Pick<World, 'backend' | 'clock'>,
  job: Pick<JobBuilder, 'toDefinition'>,
  at: number,
  runAt = at,
): Promise<{ readonly id: string }> {
  const definition = job.toDefinition()
  const { fields, maxRetries, singleInstance, deadlineMs } = definition
  const identity = {
    id: `${fields.job} ${new Date(at).toISOString()}`,
    job: fields.job,
    name: fields.name,
    queue: fields.queue,
    priority: fields.priority,
    maxRetries,
    timeoutMs: deadlineMs,
    singleInstance,
    idempotencyKey: null,
    meta: {},
    occurrence: at,
    repeat: null,
  }
  const envelope = sealEnvelope(identity, 'null', { createdAt: clock.now(), runAt, uniqueKey: null }, null)
  await backend.store.schedules.enqueue([{ schedule: fields.job, at, envelope }])
  return { id: identity.id }
}
