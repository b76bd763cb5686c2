import { Batcher } from '../../core/batcher.ts'
import { TreadleError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { JobDefinition, Keep } from '../../definition/definition.ts'
import { parseIdentity } from '../../envelope/envelope.ts'
import { scheduledRun } from '../../execution/admit/occurrence.ts'
import { asDelivered, end, outcomeOfFailed } from '../../execution/end/end.ts'
import type { Outcome } from '../../execution/end/outcome.ts'
import type { QueueBackend, ReapReport, Settlement, SettleReceipt } from '../../queue/contract/contract.ts'
import type { HeldLease } from '../../queue/contract/store.ts'
import { queueClock } from '../../queue/time/queue-clock.ts'
import { releaseLockOf } from '../scheduler/scheduler-lock.ts'

export interface CasualtiesDeps {
  readonly backend: QueueBackend
  readonly clock: Clock
  readonly find: (job: string) => JobDefinition | undefined
  readonly keepOf: (job: string) => Keep
  readonly maxRescues: number
  readonly logger: Logger
  /** Called when a killed run has been settled. */
  readonly onSettled: (lease: HeldLease, outcome: Outcome) => Promise<void>
}

/** What happened to the jobs of a dead worker. */
export interface Buried extends ReapReport {
  /** Outcomes of the runs that it was killed for. */
  readonly retried: number
  readonly dead: number
}

export const nothingBuried: Buried = { returned: 0, poisoned: 0, retried: 0, dead: 0 }

/**
 * Settles the jobs of a dead worker. The runs that it was killed for have failed, and the rest returns to the queue immediately.
 * The rest counts as rescued even if other jobs were to blame: a job without a timeout may have blocked the event loop, and must
 * not take down one worker after another forever.
 */
export async function bury(owner: string, overdue: readonly HeldLease[], deps: CasualtiesDeps): Promise<Buried> {
  const killed = await settleKilled(overdue, deps)
  const countOf = (kind: Outcome['kind']) => killed.filter((outcome) => outcome.kind === kind).length
  const reaped = await deps.backend.reap(deps.maxRescues, [owner])
  await endPresence(owner, deps.backend)
  return { ...reaped, retried: countOf('retry'), dead: countOf('dead') }
}

/** Removes the worker's presence and its lock, if it held it, without waiting for them to expire. */
async function endPresence(owner: string, { store, coordination }: QueueBackend): Promise<void> {
  await store?.workers.leave(owner)
  if (coordination !== undefined) await releaseLockOf(owner, coordination)
}

const largestSettle = 1_000

async function settleKilled(overdue: readonly HeldLease[], deps: CasualtiesDeps): Promise<readonly Outcome[]> {
  const { backend } = deps
  const settles = new Batcher<Settlement, SettleReceipt>((settlements) => backend.settle(settlements), largestSettle)
  const settle = (settlement: Settlement) => settles.add(settlement)
  const killed = await Promise.all(overdue.map((lease) => endKilled(lease, settle, deps)))
  return killed.filter((outcome) => outcome !== null)
}

/**
 * The outcome of a killed run. Null if its policy is not known here, so that it returns with the rest, or if its lease is lost.
 */
async function endKilled(
  held: HeldLease,
  settle: (settlement: Settlement) => Promise<SettleReceipt>,
  { backend, find, clock, keepOf, logger, onSettled }: CasualtiesDeps,
): Promise<Outcome | null> {
  const { id, job, token, attempt, claimedAt } = held
  const definition = find(job)
  const identity = parseIdentity(held.identity)
  if (definition === undefined || identity === undefined) return null
  const error = new TreadleError('TIMEOUT', `Job "${job}" (${id}) was over its timeout and did not stop: its process was killed`)
  const outcome = asDelivered(
    outcomeOfFailed(error, identity, definition, attempt, { clock, services: { logger } }),
    definition,
    { job, id },
  )
  const schedules = backend.store?.schedules
  const scheduled = scheduledRun(identity, claimedAt, { find, schedules, services: { logger } })
  const lease = { token, attempt, envelope: { id, job, identity: held.identity } }
  const deps = { clock, schedulesClock: queueClock(backend, clock), keys: null, keepOf, settle }
  if ((await end(lease, outcome, deps, scheduled)) !== 'applied') return null
  await onSettled(held, outcome)
  return outcome
}
