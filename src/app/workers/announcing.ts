import { hostName, processId } from '../../core/process/environment.ts'
import type { Clock } from '../../core/time/clock.ts'
import { version } from '../../core/version.ts'
import type { QueueBackend } from '../../queue/contract/contract.ts'
import { Presence } from '../../worker/health/presence.ts'
import type { Scheduler } from '../../worker/scheduler/scheduler.ts'
import type { Worker } from '../../worker/worker.ts'

export interface AnnouncingDeps {
  readonly backend: QueueBackend
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

/** The row that announces a worker to others. Undefined if the backend cannot store it. */
export function newPresence(worker: Worker, scheduler: Scheduler | undefined, deps: AnnouncingDeps): Presence | undefined {
  const { backend, clock, onError } = deps
  if (backend.store === undefined) return undefined
  const { queues, leaseMs } = worker.config
  const same = { host: hostName(), pid: processId(), version, startedAt: clock.now(), queues }
  const describe = () => {
    const { owner, running, concurrency, allowed, breaker } = worker.state
    const following = scheduler === undefined ? null : { lastTickAt: scheduler.lastTickAt }
    return { owner, ...same, jobs: worker.jobs, running, concurrency, allowed, breaker, scheduler: following }
  }
  return new Presence({ workers: backend.store.workers, owner: worker.state.owner, clock, leaseMs, describe, onError })
}
