import { Batcher } from '../../core/batcher.ts'
import type { RepeatedErrors } from '../../core/repeated-errors.ts'
import type { Clock } from '../../core/time/clock.ts'
import { formatDuration } from '../../core/time/duration.ts'
import type { KeyRing } from '../../envelope/keys/key-ring.ts'
import { storedProgress } from '../../envelope/progress.ts'
import { openedLinks } from '../../execution/admit/handed-on.ts'
import type { RunServices } from '../../execution/attempt/run-context.ts'
import { runLogger } from '../../execution/attempt/run-logger.ts'
import type { JobEvents } from '../../execution/job-events.ts'
import type { Lease, QueueBackend, SettleReceipt } from '../../queue/contract/contract.ts'
import type { ProgressReport } from '../../queue/contract/store.ts'
import { type Observers, waitedMs } from '../../telemetry/observer.ts'
import { subjectOf } from '../health/announce.ts'
import type { JobLogs } from './job-logs.ts'

export interface RunServicesDeps {
  readonly backend: QueueBackend
  readonly clock: Clock
  /** The queue's clock, if it has one. */
  readonly schedulesClock?: Clock
  readonly keys: KeyRing | null
  readonly logger: RunServices['logger']
  readonly logs: JobLogs | null
  readonly events: JobEvents
  readonly children: RunServices['children']
  readonly observers: Observers
}

export interface RunServicesOptions {
  readonly leaseMs: number
  readonly errors: RepeatedErrors
  /** Called when a call failed and is not retried. */
  readonly onFailed: (what: string, error: unknown) => void
  /** The lease of a run that has not ended; null if there is none with this token. */
  readonly leaseOf: (token: string) => Lease | null
}

const mostReports = 1_000
const mostBegins = 1_000

/** What the handlers of a worker's runs ask of their queue and of the worker. */
export function runServices(deps: RunServicesDeps, { leaseMs, errors, onFailed, leaseOf }: RunServicesOptions): RunServices {
  const { backend, keys, logger, logs, events, children, observers } = deps
  // Due times are in the time of the queue.
  const queueClock = deps.schedulesClock ?? deps.clock
  const begins = new Batcher<string, SettleReceipt>((tokens) => backend.begin(tokens), mostBegins)
  const reports = new Batcher<ProgressReport, undefined>(async (batch) => {
    await backend.store?.report(batch)
    return []
  }, mostReports)
  return {
    logger,
    errors,
    children,
    logOf: (run) => logs?.of(run) ?? null,
    started: (run) => {
      if (events.has('job:started')) events.emit('job:started', run.event, subjectOf(run, keys))
      if (observers.isOn) observers.started(run.lease.envelope, waitedMs(run.lease.envelope, queueClock.now()))
    },
    overran: (run, overrunMs) => {
      const since = formatDuration(overrunMs)
      runLogger(run.event, logger).warn(`was asked to stop ${since} ago and has not ended; it keeps its slot until it does`)
      events.emit('job:overrun', { ...run.event, overrunMs }, subjectOf(run, keys))
    },
    /** Failing to write progress must not fail the job. */
    report: async (token, progress) => {
      try {
        const lease = leaseOf(token)
        // Progress of a run that has ended is not written.
        if (lease !== null) await reports.add({ token, progress: storedProgress(progress, lease.envelope, keys) })
      } catch (error) {
        onFailed('the progress of a job could not be written', error)
      }
    },
    begin: async (token) => (await begins.add(token)) === 'applied',
    links: (waiter) => openedLinks(waiter, backend.store, keys),
    rootOf: async (id) => (await backend.store?.get(id))?.root ?? id,
    recordOf: async (id) => (await backend.store?.get(id)) ?? null,
    extend: async (token) => (await backend.extend([token], leaseMs))[0] === 'applied',
  }
}
