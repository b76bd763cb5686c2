import { keepOf } from '../../app/workers/retention.ts'
import type { ServedQueue } from '../../app/workers/served-queue.ts'
import { parseIdentity } from '../../envelope/envelope.ts'
import type { AdmissionDeps, HoldingDeps } from '../../execution/admit/admit.ts'
import { openedLinks } from '../../execution/admit/handed-on.ts'
import type { ScheduledRunDeps } from '../../execution/admit/occurrence.ts'
import type { VerifyingDeps } from '../../execution/admit/verifying.ts'
import type { EndedLease, EndingDeps } from '../../execution/end/end.ts'
import { type Outcome, outcomeWords } from '../../execution/end/outcome.ts'
import type { RepeatingDeps } from '../../execution/end/repeating.ts'
import type { FinalReceipt } from '../../execution/end/sealing.ts'
import { queueClock } from '../../queue/time/queue-clock.ts'
import type { Observers } from '../../telemetry/observer.ts'

/** What jobs are admitted and ended with that other programs run: by the rules of every worker. */
export type ServedExecution = AdmissionDeps & HoldingDeps & VerifyingDeps & RepeatingDeps & ScheduledRunDeps

export function servedExecution(
  { backend, settings, registry, keys, observers }: ServedQueue,
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
      if (observers.isOn) tellEnded(lease, outcome, receipt, queueClock(backend, clock).now(), observers)
    },
    services: { logger, links: (waiter) => openedLinks(waiter, store, keys) },
  }
}

/** What other programs run is counted when they say how it ended. */
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

const receiptWords = { lost: 'lost', blocked: 'waiting', cancelled: 'cancelled', failed: 'dead' } as const
