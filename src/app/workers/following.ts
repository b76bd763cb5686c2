import type { Clock } from '../../core/time/clock.ts'
import type { Registry } from '../../definition/registry.ts'
import type { KeyRing } from '../../envelope/keys/key-ring.ts'
import type { JobEvents } from '../../execution/job-events.ts'
import { coordinationMissing } from '../../queue/backend/missing-coordination.ts'
import type { Coordination, LockHolder, QueueBackend } from '../../queue/contract/contract.ts'
import { queueClock } from '../../queue/time/queue-clock.ts'
import { occurrencePace, tickPace } from '../../worker/scheduler/pace.ts'
import type { SealOccurrence } from '../../worker/scheduler/schedule-pass.ts'
import { Scheduler } from '../../worker/scheduler/scheduler.ts'
import type { SchedulerConfig } from '../../worker/scheduler/scheduler-config.ts'
import { SchedulerLock } from '../../worker/scheduler/scheduler-lock.ts'
import type { Settings } from '../config/settings.ts'

export interface FollowingDeps {
  readonly backend: QueueBackend
  readonly registry: Pick<Registry, 'definitions'>
  readonly settings: Settings
  readonly events: JobEvents
  readonly envelope: SealOccurrence
  readonly keys: KeyRing | null
  readonly holder: LockHolder
  readonly onError: (error: unknown) => void
}

/**
 * The scheduler of a program. It is created even if no job has a schedule, because schedules can be created at run time.
 * Undefined if the queue cannot store schedules.
 */
export function newScheduler(config: SchedulerConfig | null, deps: FollowingDeps): Scheduler | undefined {
  const { backend, registry, settings, events, envelope, keys, onError } = deps
  if (config === null) return undefined
  if (backend.store === undefined) {
    if (!registry.definitions().some(({ fields }) => fields.schedule !== null)) return undefined
    throw coordinationMissing(`The ${backend.kind} backend cannot keep schedules`)
  }
  const { store } = backend
  const { clock, logger, environment } = settings
  const pace = config.tickMs === null ? occurrencePace : tickPace(config.tickMs)
  return new Scheduler({
    definitions: () => registry.definitions(),
    schedules: store.schedules,
    sweep: (request) => store.sweep(request),
    envelope,
    keys,
    clock: queueClock(backend, clock),
    logger,
    environment,
    pace,
    onError,
    onEnqueued: (schedule, at) => events.emit('schedule:enqueued', { schedule, at }),
    onMissed: (missed) => events.emit('schedule:missed', missed),
    onTick: (tick) => events.emit('schedule:tick', tick),
    ...(config.maxOverruns !== null && { maxOverruns: config.maxOverruns }),
    ...(config.isSingle && { lock: lockOf(backend, deps.holder, clock) }),
  })
}

/**
 * The lock is renewed every few seconds, even during a pass. So a live scheduler never loses it, and a dead one is soon replaced.
 */
const lockMs = 60_000

function lockOf({ coordination, kind }: QueueBackend, holder: LockHolder, clock: Clock): SchedulerLock {
  return new SchedulerLock(sharing(coordination, kind), holder, lockMs, clock)
}

function sharing(coordination: Coordination | undefined, kind: string): Coordination {
  if (coordination !== undefined) return coordination
  throw coordinationMissing(`The ${kind} backend has no locks: a single scheduler is not possible on it`)
}

/** A repeat continues when its run has ended, so the scheduler of the process that ran it checks immediately. */
export function wakeAfterRepeats(scheduler: Scheduler, events: JobEvents): () => void {
  const look = ({ job }: { readonly job: string }) => {
    if (scheduler.hasRepeatOf(job)) scheduler.wake()
  }
  const listeners = (['job:succeeded', 'job:dead', 'job:cancelled', 'job:skipped'] as const).map((name) =>
    events.follow(name, look),
  )
  return () => {
    for (const unlisten of listeners) unlisten()
  }
}
