import { TreadleError } from '../../core/errors.ts'
import { parseIdentity } from '../../envelope/envelope.ts'
import type { Outcome } from '../../execution/end/outcome.ts'
import type { RunEvent } from '../../execution/events.ts'
import { emitEnd, outcomeEvents } from '../../execution/job-events.ts'
import type { HeldLease } from '../../queue/contract/store.ts'
import { queueClock } from '../../queue/time/queue-clock.ts'
import { workerConfig } from '../../worker/config.ts'
import type { WorkOptions } from '../../worker/options.ts'
import { bury } from '../../worker/supervisor/casualties.ts'
import { type SupervisorOptions, supervisorConfig } from '../../worker/supervisor/config.ts'
import type { Tell } from '../../worker/supervisor/events.ts'
import type { StartChild } from '../../worker/supervisor/messages.ts'
import { overdueRuns } from '../../worker/supervisor/overdue-runs.ts'
import { Supervisor } from '../../worker/supervisor/supervisor.ts'
import { keepOf } from './retention.ts'
import type { WorkingDeps } from './working.ts'

/** Options of `jobs.supervise`. */
export interface SuperviseOptions extends SupervisorOptions {
  /** The worker options of each process. */
  readonly worker: WorkOptions
  /** Starts a worker process. The supervisor and the process communicate by messages. */
  readonly start: StartChild
  /** Receives the supervisor's events. */
  readonly tell: Tell
}

/** Queues that exist only in the memory of one process. */
const unshared = ['memory', 'sync']

export type SupervisingDeps = Pick<WorkingDeps, 'backend' | 'settings' | 'events' | 'registry' | 'keys'>

export function newSupervisor(options: SuperviseOptions, deps: SupervisingDeps): Supervisor {
  const { backend, settings, events, registry, keys } = deps
  const { clock, logger } = settings
  const worker = workerConfig(options.worker, 'work')
  const config = supervisorConfig(options, worker)
  if (unshared.includes(backend.kind)) {
    const message = `Several processes cannot share a ${backend.kind} queue: each would have its own. Use sqlite:FILE`
    throw new TreadleError('CONFIG_INVALID', message)
  }
  const find = (job: string) => registry.find(job)
  const { concurrency, maxRescues } = worker
  const { store } = backend
  const onSettled = async (lease: HeldLease, outcome: Outcome) => {
    if (!events.has(outcomeEvents[outcome.kind])) return
    const endedAt = queueClock(backend, clock).now()
    const durationMs = Math.max(0, endedAt - lease.claimedAt)
    const envelope = (await store?.get(lease.id)) ?? lease
    const subject = () => ({ envelope, keys, startedAt: lease.claimedAt, endedAt, durationMs })
    emitEnd(events, { event: eventOf(lease), outcome, durationMs, subject })
  }
  const casualties = { backend, clock, logger, find, maxRescues, keepOf: keepOf(registry, settings.keep), onSettled }
  return new Supervisor(config, {
    clock,
    start: options.start,
    tell: options.tell,
    bury: (owner, overdue) => bury(owner, overdue, casualties),
    // A backend without a store cannot tell how long a job has been running.
    overdue: async (owners) => (store === undefined ? [] : overdueRuns(owners, { store, clock, find, concurrency })),
  })
}

function eventOf({ id, job, identity, attempt }: HeldLease): RunEvent {
  const { name = job, queue = '' } = parseIdentity(identity) ?? {}
  return { id, job, name, queue, attempt }
}
