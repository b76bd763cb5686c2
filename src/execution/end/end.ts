import type { Logger } from '../../core/logger.ts'
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
import { type FinalReceipt, sealingKeys, settleSealed, unsealedIfPlain } from './sealing.ts'

/**
 * The end of a job, shared by everything that ends one: a worker, a remote worker over HTTP, a client of the Bedrock protocol, or
 * a supervisor whose worker died.
 *
 * 1. The caller reports how the run went. `outcomeOfDone` and `outcomeOfFailed` turn that into an outcome: another attempt or the
 *    end, the time of the next run, and what to store under the idempotency key. Other outcomes are reported directly.
 * 2. `end` stores the outcome. It skips runs of the same schedule that fell due in the meantime, signs what the end passes on,
 *    settles the lease, and releases children that a job server has held back for this job.
 *
 * A caller that does not have the envelope must first verify what is stored (`verifying.ts`).
 */
export interface EndingDeps {
  readonly clock: Clock
  /** The queue's clock, if it has one. */
  readonly schedulesClock?: Clock
  readonly keys: KeyRing | null
  readonly keepOf: (job: string) => Keep
  readonly settle: (settlement: Settlement) => Promise<SettleReceipt>
  /** Releases the children that are held back for a job; undefined if none ever are. */
  readonly releaseChildren?: (parent: string) => Promise<unknown>
  /** Called with what was stored, for counting. */
  readonly onEnded?: (lease: EndedLease, outcome: Outcome, receipt: FinalReceipt) => void | Promise<void>
}

/** The lease of a run that is over. A stored job can be used as its envelope. */
export interface EndedLease extends Pick<Lease, 'token' | 'attempt' | 'linked'> {
  /** Absent if unknown. */
  readonly claimedAt?: number
  /**
   * The signature may be absent if the job is known to have had one when it was claimed. The rest is for the details of events.
   */
  readonly envelope: Pick<Envelope, 'id' | 'job' | 'identity'> &
    Partial<Pick<Envelope, 'signature' | 'payload' | 'createdAt' | 'runAt'>>
}

/** Options for the end of this run, besides its outcome. */
export interface EndingOptions {
  /** Whether to keep the job when it has ended. Overrides the program's setting. */
  readonly keep?: boolean
  /**
   * Apply only if the job waits for no children. Otherwise the receipt is `blocked`, nothing is written and the lease stays held.
   */
  readonly alone?: true
}

/** Stores how a run ended, and does what follows from that. A lost lease changes nothing. */
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

/**
 * The settlement of a run that succeeded and passes nothing on, if storing it is all that `end` would do; otherwise null. If the
 * receipt is `unsealed`, nothing was written, and `end` decides.
 */
export function plainEnd(
  lease: EndedLease,
  outcome: Outcome,
  deps: EndingDeps,
  scheduled: ScheduledRun | null,
): Settlement | null {
  if (outcome.kind !== 'done' || scheduled !== null || deps.releaseChildren !== undefined) return null
  const settlement = settlementOf(outcome, lease.token, lease.attempt, 0, deps.keepOf(lease.envelope.job))
  return settlement === null ? null : unsealedIfPlain(settlement, lease, sealingKeys(lease, deps.keys))
}

const lost: Promise<FinalReceipt> = Promise.resolve('lost')

function settle(settlement: Settlement, lease: EndedLease, { keys, settle }: EndingDeps): Promise<FinalReceipt> {
  return settleSealed(settlement, lease, sealingKeys(lease, keys), settle)
}

/** Also handles the runs that it has overtaken, and the children that were held back for it. */
async function endWithOthers(
  settlement: Settlement,
  lease: EndedLease,
  outcome: Outcome,
  deps: EndingDeps,
  scheduled: ScheduledRun | null,
): Promise<FinalReceipt> {
  // Must happen before its slot is free.
  await skipBehind(outcome, scheduled, deps)
  const receipt = await settle(settlement, lease, deps)
  await deps.onEnded?.(lease, outcome, receipt)
  const isAlone = settlement.kind === 'done' && settlement.alone === true
  const isLeft = (receipt === 'blocked' && !isAlone) || receipt === 'failed' || receipt === 'cancelled'
  if (isLeft || (receipt === 'applied' && (outcome.kind === 'dead' || outcome.kind === 'cancelled')))
    await deps.releaseChildren?.(lease.envelope.id)
  return receipt
}

/** Skips occurrences that fell due during a run of their schedule, if that run has ended. */
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

/** The outcome of a job that was done: its result, what to store under its idempotency key, and its next run if it repeats. */
export function outcomeOfDone(
  result: string | null,
  once: OnceMark | null,
  repeated: DoneRun | null,
  deps: RepeatingDeps,
): Extract<Outcome, { kind: 'done' }> {
  return { kind: 'done', result, once, again: repeated === null ? null : again(repeated, deps) }
}

/** The outcome of a failed run: by the job's policy, or after a delay chosen by the worker. */
export function outcomeOfFailed(
  error: unknown,
  { maxRetries }: Pick<Identity, 'maxRetries'>,
  definition: JobDefinition,
  attempt: number,
  { clock, services }: Pick<EndingDeps, 'clock'> & { readonly services?: { readonly logger: Logger } },
  delayMs?: number,
): Outcome {
  const outcome = outcomeOfFailure(error, {
    definition,
    attempt,
    maxAttempts: maxAttemptsOf({ maxRetries }, definition),
    random: () => clock.random(),
    warn: (problem) => services?.logger.warn(`Job "${definition.job}": ${problem}`),
  })
  return outcome.kind === 'retry' && delayMs !== undefined ? { ...outcome, delayMs } : outcome
}

/** Ends the job if it must not be begun again: a server records that it was begun when it hands it out. */
export function asDelivered(outcome: Outcome, definition: JobDefinition, job: Pick<Identity, 'job' | 'id'>): Outcome {
  return definition.fields.delivery === 'at-most-once' ? endForGood(outcome, job) : outcome
}
