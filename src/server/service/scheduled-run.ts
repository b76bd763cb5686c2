import type { ServedQueue } from '../../app/served-queue.ts'
import { queueClock } from '../../backends/queue-clock.ts'
import type { Identity } from '../../envelope/envelope.ts'
import type { OccurrenceDeps, ScheduledRun } from '../../execution/occurrence.ts'
import { runLogger } from '../../execution/run-context.ts'

type RunIdentity = Pick<Identity, 'id' | 'job' | 'name' | 'occurrence'>

/** The run of a schedule that a job is; null where it was dispatched, or this server does not know the schedule. */
export function scheduledRun(identity: RunIdentity, storedAt: number, queue: ServedQueue): ScheduledRun | null {
  const { registry, backend, settings } = queue
  const { occurrence: at, job } = identity
  const definition = at === null ? undefined : registry.find(job)
  const schedule = definition?.fields.schedule ?? null
  if (at === null || definition === undefined || schedule === null) return null
  const logger = runLogger(identity, settings.logger)
  return { definition, schedule, schedules: backend.store.schedules, at, storedAt, logger }
}

export function occurrenceDeps({ registry, settings, backend }: ServedQueue): OccurrenceDeps {
  return { clock: queueClock(backend, settings.clock), find: (job) => registry.find(job), environment: settings.environment }
}
