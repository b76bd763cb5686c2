import type { QueueBackend, ReapReport } from '../../backends/contract.ts'
import type { HeldLease } from '../../backends/store.ts'
import type { Clock } from '../../core/clock.ts'
import { TreadleError } from '../../core/errors.ts'
import type { JobDefinition, Keep } from '../../definition/definition.ts'
import { parseIdentity } from '../../envelope/envelope.ts'
import { endForGood } from '../../execution/delivery.ts'
import { type Outcome, outcomeOfFailure, settlementOf } from '../../execution/outcome.ts'
import { releaseLockOf } from '../scheduler-lock.ts'

export interface CasualtiesDeps {
  readonly backend: QueueBackend
  readonly clock: Clock
  readonly find: (job: string) => JobDefinition | undefined
  readonly keepOf: (job: string) => Keep
  readonly maxRescues: number
  /** A run that was killed has been settled. */
  readonly onSettled: (lease: HeldLease, outcome: Outcome) => void
}

/** What became of a dead worker's jobs. */
export interface Buried extends ReapReport {
  /** Of the runs that it was killed for. */
  readonly retried: number
  readonly dead: number
}

export const nothingBuried: Buried = { returned: 0, poisoned: 0, retried: 0, dead: 0 }

/**
 * What a worker leaves behind that is dead and can settle nothing any more: the runs that it was killed for have failed, and the
 * rest goes back to the queue at once. The rest is counted as rescued also where others were to blame: a job without a timeout
 * may be what blocked the event loop, and must not take down one worker after the other for ever.
 */
export async function bury(owner: string, overdue: readonly HeldLease[], deps: CasualtiesDeps): Promise<Buried> {
  const killed = await settleKilled(overdue, deps)
  const countOf = (kind: Outcome['kind']) => killed.filter((outcome) => outcome.kind === kind).length
  const reaped = await deps.backend.reap(deps.maxRescues, [owner])
  await endPresence(owner, deps.backend)
  return { ...reaped, retried: countOf('retry'), dead: countOf('dead') }
}

/** Nobody has to wait until its sign of life, and the lock that it may have had, run out. */
async function endPresence(owner: string, { store, coordination }: QueueBackend): Promise<void> {
  await store?.workers.leave(owner)
  if (coordination !== undefined) await releaseLockOf(owner, coordination)
}

async function settleKilled(overdue: readonly HeldLease[], deps: CasualtiesDeps): Promise<readonly Outcome[]> {
  const { backend, clock, keepOf, onSettled } = deps
  const now = clock.now()
  const killed = overdue.flatMap((lease) => {
    const outcome = outcomeOfKill(lease, deps)
    const settlement = outcome && settlementOf(outcome, lease.token, lease.attempt, now, keepOf(lease.job))
    return outcome && settlement ? [{ lease, outcome, settlement }] : []
  })
  if (killed.length === 0) return []
  const receipts = await backend.settle(killed.map(({ settlement }) => settlement))
  const settled = killed.filter((_, index) => receipts[index] === 'applied')
  for (const { lease, outcome } of settled) onSettled(lease, outcome)
  return settled.map(({ outcome }) => outcome)
}

/** Undefined where its policy is not known here: then it goes back with the rest. */
function outcomeOfKill({ id, job, identity, attempt }: HeldLease, { find, clock }: CasualtiesDeps): Outcome | undefined {
  const definition = find(job)
  const sealed = parseIdentity(identity)
  if (definition === undefined || sealed === undefined) return undefined
  const error = new TreadleError('TIMEOUT', `Job "${job}" (${id}) was over its timeout and did not stop: its process was killed`)
  const maxAttempts = sealed.maxRetries + 1
  const outcome = outcomeOfFailure(error, { definition, attempt, maxAttempts, random: () => clock.random() })
  return definition.fields.delivery === 'at-most-once' ? endForGood(outcome, { job, id }) : outcome
}
