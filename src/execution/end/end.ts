import type { Clock } from '../../core/time/clock.ts'
import type { JobDefinition, Keep } from '../../definition/definition.ts'
import type { Envelope, Identity } from '../../envelope/envelope.ts'
import type { KeyRing } from '../../envelope/keys/key-ring.ts'
import type { Lease, OnceMark, Settlement, SettleReceipt } from '../../queue/contract/contract.ts'
import { type ScheduledRun, skipOvertaken } from '../admit/occurrence.ts'
import { maxAttemptsOf } from '../attempt-limits.ts'
import { endForGood } from './delivery.ts'
import { type Outcome, outcomeOfFailure, settlementOf } from './outcome.ts'
import { again, type DoneRun, type RepeatingDeps } from './repeating.ts'
import { type FinalReceipt, sealingKeys, settleSealed } from './sealing.ts'

/**
 * The end of a job, once for everybody who ends one: a worker, a remote worker over HTTP, a client of the Bedrock protocol, a
 * supervisor whose worker died.
 *
 * 1. Whoever ran the job reports how that went. `outcomeOfDone` and `outcomeOfFailed` make an outcome of it: another attempt or the
 *    end, when it is done again, what its idempotency key leaves behind. Other outcomes are their own report.
 * 2. `end` writes the outcome: runs of the same schedule that fell due meanwhile are skipped, what the end hands on is signed, the
 *    lease is settled, and children that a job server has held back for this job are let go.
 *
 * Who ends a job without having its envelope in hand verifies what is written of it first (`verifying.ts`).
 */
export interface EndingDeps {
  readonly clock: Clock
  /** The queue's, where it has one. */
  readonly schedulesClock?: Clock
  readonly keys: KeyRing | null
  readonly keepOf: (job: string) => Keep
  readonly settle: (settlement: Settlement) => Promise<SettleReceipt>
  /** Lets go the children that are held back for a job; undefined where nobody holds any back. */
  readonly releaseChildren?: (parent: string) => Promise<unknown>
  /** Is told what was stored, where somebody counts it. */
  readonly onEnded?: (lease: EndedLease, outcome: Outcome, receipt: FinalReceipt) => void
}

/** The lease of a run that is over. A stored job stands in for its envelope. */
export interface EndedLease extends Pick<Lease, 'token' | 'attempt' | 'linked'> {
  /** Where it is known. */
  readonly claimedAt?: number
  /** Without a signature where it is known to have had one when it was claimed. */
  readonly envelope: Pick<Envelope, 'id' | 'job' | 'identity'> & Partial<Pick<Envelope, 'signature'>>
}

/** What the end of this run is to be like, beside what its outcome says. */
export interface EndingOptions {
  /** Whether the job is kept when it has ended, in place of what the program says of that. */
  readonly keep?: boolean
  /** Only where it waits for no children: otherwise the receipt is `blocked`, nothing is written and the lease is held on. */
  readonly alone?: true
}

/** Writes how a run has ended, and does what follows from it. A lease that is lost changes nothing. */
export function end(
  lease: EndedLease,
  outcome: Outcome,
  deps: EndingDeps,
  scheduled: ScheduledRun | null = null,
  options?: EndingOptions,
): Promise<FinalReceipt> {
  const settled = settlementOf(outcome, lease.token, lease.attempt, deps.clock.now(), deps.keepOf(lease.envelope.job))
  if (settled === null) return lost
  const settlement = options === undefined ? settled : asAsked(settled, options)
  if (scheduled === null && deps.releaseChildren === undefined) return settle(settlement, lease, deps)
  return endWithOthers(settlement, lease, outcome, deps, scheduled)
}

const lost: Promise<FinalReceipt> = Promise.resolve('lost')

function settle(settlement: Settlement, lease: EndedLease, { keys, settle }: EndingDeps): Promise<FinalReceipt> {
  return settleSealed(settlement, lease, sealingKeys(lease, keys), settle)
}

/** Together with the runs that it has overtaken, and the children that were held back for it. */
async function endWithOthers(
  settlement: Settlement,
  lease: EndedLease,
  outcome: Outcome,
  deps: EndingDeps,
  scheduled: ScheduledRun | null,
): Promise<FinalReceipt> {
  // Before its slot is free.
  await skipBehind(outcome, scheduled, deps)
  const receipt = await settle(settlement, lease, deps)
  deps.onEnded?.(lease, outcome, receipt)
  const isAlone = settlement.kind === 'done' && settlement.alone === true
  const isLeft = (receipt === 'blocked' && !isAlone) || receipt === 'failed' || receipt === 'cancelled'
  if (isLeft || (receipt === 'applied' && (outcome.kind === 'dead' || outcome.kind === 'cancelled')))
    await deps.releaseChildren?.(lease.envelope.id)
  return receipt
}

/** What fell due while a run of a schedule was under way that has come to an end, and must not run. */
export async function skipBehind(outcome: Outcome, scheduled: ScheduledRun | null, deps: EndingDeps): Promise<void> {
  if (scheduled === null) return
  if (outcome.kind === 'done' || outcome.kind === 'dead' || outcome.kind === 'cancelled') await skipOvertaken(scheduled, deps)
}

function asAsked(settlement: Settlement, { keep, alone }: EndingOptions): Settlement {
  switch (settlement.kind) {
    case 'done':
      return { ...settlement, keep: keep ?? settlement.keep, ...(alone && { alone }) }
    case 'dead':
    case 'cancelled':
    case 'skipped':
      return { ...settlement, keep: keep ?? settlement.keep }
    default:
      return settlement
  }
}

/** What a job comes to that was done: its result, what its idempotency key leaves behind, and its next run where it repeats. */
export function outcomeOfDone(
  result: string | null,
  once: OnceMark | null,
  repeated: DoneRun | null,
  deps: RepeatingDeps,
): Extract<Outcome, { kind: 'done' }> {
  return { kind: 'done', result, once, again: repeated === null ? null : again(repeated, deps) }
}

/** What a job comes to whose run has failed: by its policy, or after a delay of its worker's own. */
export function outcomeOfFailed(
  error: unknown,
  { maxRetries }: Pick<Identity, 'maxRetries'>,
  definition: JobDefinition,
  attempt: number,
  { clock }: Pick<EndingDeps, 'clock'>,
  delayMs?: number,
): Outcome {
  const outcome = outcomeOfFailure(error, {
    definition,
    attempt,
    maxAttempts: maxAttemptsOf({ maxRetries }, definition),
    random: () => clock.random(),
  })
  return outcome.kind === 'retry' && delayMs !== undefined ? { ...outcome, delayMs } : outcome
}

/** The same outcome, unless the job must not be begun again: a server has written that it was begun when it handed it out. */
export function asDelivered(outcome: Outcome, definition: JobDefinition, job: Pick<Identity, 'job' | 'id'>): Outcome {
  return definition.fields.delivery === 'at-most-once' ? endForGood(outcome, job) : outcome
}
