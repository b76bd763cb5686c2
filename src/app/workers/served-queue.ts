import { TreadleError } from '../../core/errors.ts'
import type { Registry } from '../../definition/registry.ts'
import type { KeyRing } from '../../envelope/keys/key-ring.ts'
import type { JobEvents } from '../../execution/job-events.ts'
import { coordinationMissing } from '../../queue/backend/missing-coordination.ts'
import type { QueueBackend, WholeBackend } from '../../queue/contract/contract.ts'
import type { Observers } from '../../telemetry/observer.ts'
import type { Settings } from '../config/settings.ts'
import type { ServedEventsOptions } from '../observing/events/event-options.ts'
import type { EventStream } from '../observing/events/event-stream.ts'

/** An open queue as a job server needs it, with the jobs that this program knows. */
export interface ServedQueue {
  readonly backend: WholeBackend
  readonly keys: KeyRing | null
  readonly settings: Settings
  readonly registry: Registry
  readonly newId: () => string
  readonly observers: Observers
  readonly events: JobEvents
  /** Streams events from all processes of the queue. */
  readonly streamEvents: (options: ServedEventsOptions) => EventStream
}

export function refuseUnserved(backend: QueueBackend): asserts backend is WholeBackend {
  if (backend.kind !== 'sync' && backend.store !== undefined && backend.coordination !== undefined) return
  const problem = `The ${backend.kind} backend cannot be served: its jobs cannot be queried`
  throw backend.kind === 'sync' ? new TreadleError('CAPABILITY_MISSING', problem) : coordinationMissing(problem)
}
