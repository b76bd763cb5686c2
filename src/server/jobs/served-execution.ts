import { keepOf } from '../../app/workers/retention.ts'
import type { ServedQueue } from '../../app/workers/served-queue.ts'
import { TreadleError } from '../../core/errors.ts'
import { RepeatedErrors } from '../../core/repeated-errors.ts'
import { parseIdentity } from '../../envelope/envelope.ts'
import type { AdmissionDeps, HoldingDeps } from '../../execution/admit/admit.ts'
import { openedLinks } from '../../execution/admit/handed-on.ts'
import type { ScheduledRunDeps } from '../../execution/admit/occurrence.ts'
import type { VerifyingDeps } from '../../execution/admit/verifying.ts'
import type { EndedLease, EndingDeps } from '../../execution/end/end.ts'
import { type Outcome, outcomeWords } from '../../execution/end/outcome.ts'
import type { RepeatingDeps } from '../../execution/end/repeating.ts'
import type { FinalReceipt } from '../../execution/end/sealing.ts'
import { emitEnd, outcomeEvents } from '../../execution/job-events.ts'
import type { JobStore } from '../../queue/contract/store.ts'
import { queueClock } from '../../queue/time/queue-clock.ts'
import type { Observers } from '../../telemetry/observer.ts'

/** Dependencies for admitting and ending jobs that other programs run, by the same rules as every worker. */
export type ServedExecution = AdmissionDeps & HoldingDeps & VerifyingDeps & RepeatingDeps & ScheduledRunDeps

export function servedExecution(
  { backend, settings, registry, keys, observers, events }: ServedQueue,
  given: Required<Pick<EndingDeps, 'settle' | 'releaseChildren'>> & Pick<RepeatingDeps, 'catchUp'>,
): ServedExecution {
  const { store, coordination } = backend
  const { clock, logger, allow, environment } = settings
  return {
    ...given,
    clock,
    schedulesClock: queueClock(backend, clock),
    keys,
    allow,
    environment,
    store,
    coordination,
    schedules: store.schedules,
    find: (job) => registry.find(job),
    keepOf: keepOf(registry, settings.keep),
    onEnded: (lease, outcome, receipt) => {
      const now = queueClock(backend, clock).now()
      if (observers.isOn) tellEnded(lease, outcome, receipt, now, observers)
      return emitServedEnd({ events, keys, store }, lease, outcome, receipt, now)
    },
    services: { logger, errors: new RepeatedErrors(clock), links: (waiter) => openedLinks(waiter, store, keys) },
  }
}

/** Jobs that other programs run are counted when their outcome is reported. */
function tellEnded(
  { envelope, claimedAt }: EndedLease,
  outcome: Outcome,
  receipt: FinalReceipt,
  now: number,
  observers: Observers,
): void {
  const word = receipt === 'applied' ? outcomeWords[outcome.kind] : receiptWords[receipt]
  const runMs = claimedAt === undefined ? null : Math.max(0, now - claimedAt)
  const queue = parseIdentity(envelope.identity)?.queue ?? ''
  observers.ended({ queue, job: envelope.job }, { outcome: word, runMs, settleMs: null })
}

/** Emits the same events as for a job that this program has run itself. */
async function emitServedEnd(
  { events, keys, store }: Pick<ServedQueue, 'events' | 'keys'> & { readonly store: JobStore },
  { envelope: known, attempt, claimedAt }: EndedLease,
  outcome: Outcome,
  receipt: FinalReceipt,
  now: number,
): Promise<void> {
  const settled = receipt === 'applied' ? outcome : settledBy[receipt]
  if (!events.has(outcomeEvents[settled.kind])) return
  const { id, job } = known
  // A job that was only given back was not read.
  const envelope = known.payload === undefined ? ((await store.get(id)) ?? known) : known
  const { name = job, queue = '' } = parseIdentity(envelope.identity) ?? {}
  const durationMs = claimedAt === undefined ? 0 : Math.max(0, now - claimedAt)
  const subject = (result?: string | null) => ({
    envelope,
    keys,
    endedAt: now,
    ...(claimedAt !== undefined && { startedAt: claimedAt, durationMs }),
    ...(result !== undefined && { result }),
  })
  emitEnd(events, { event: { id, job, name, queue, attempt }, outcome: settled, durationMs, subject })
}

/** The outcome of a job that did not end as its run did. */
const settledBy: Readonly<Record<Exclude<FinalReceipt, 'applied'>, Outcome>> = {
  lost: { kind: 'lost' },
  blocked: { kind: 'wait' },
  cancelled: { kind: 'cancelled' },
  failed: { kind: 'dead', reason: 'dependency', error: new TreadleError('RUN_FAILED', 'A job that it created has failed') },
}

const receiptWords = { lost: 'lost', blocked: 'waiting', cancelled: 'cancelled', failed: 'dead' } as const
