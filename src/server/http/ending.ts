import { keepOf } from '../../app/retention.ts'
import type { Settlement } from '../../backends/contract.ts'
import type { HeldLease } from '../../backends/store.ts'
import type { SettledMany, Settlements } from '../../client/api/lease-shapes.ts'
import { parseDuration } from '../../core/duration.ts'
import { toJson } from '../../core/json.ts'
import { type Identity, parseIdentity } from '../../envelope/envelope.ts'
import { reseal } from '../../envelope/reseal.ts'
import { type ScheduledRun, skipOvertaken } from '../../execution/occurrence.ts'
import { type Outcome, outcomeOfFailure, settlementOf } from '../../execution/outcome.ts'
import { lastBegunAt, nextAfter } from '../../execution/repeating.ts'
import { type FinalReceipt, sealed } from '../../execution/sealing.ts'
import type { JobService } from '../service/job-service.ts'
import { occurrenceDeps, scheduledRun } from '../service/scheduled-run.ts'

/** How a remote worker's attempt at one job ended. */
export type EndedAttempt = Settlements['settlements'][number]
export type EndReceipt = SettledMany['receipts'][number]

interface Decided {
  readonly settlement: Settlement
  readonly receipt: EndReceipt
  /** The run of a schedule that ends, with those that fell due meanwhile. */
  readonly overtakes: ScheduledRun | null
}

/** Ends leases by the rules that a worker of the queue itself keeps. One that is lost changes nothing, and does not disturb the others. */
export async function endAttempts(ended: readonly EndedAttempt[], service: JobService): Promise<readonly EndReceipt[]> {
  const { backend } = service.queue
  const held = new Map((await backend.store.leasesOf(ended.map(({ id }) => id))).map((lease) => [lease.token, lease]))
  const decided = await Promise.all(
    ended.map(async (each) => {
      const lease = held.get(each.token)
      return lease === undefined ? null : decide(each, lease, service)
    }),
  )
  const known = decided.filter((each) => each !== null)
  const overtaken = known.filter(({ overtakes }) => overtakes !== null).map(({ overtakes }) => overtakes as ScheduledRun)
  await Promise.all(overtaken.map((run) => skipOvertaken(run, occurrenceDeps(service.queue))))
  const receipts = known.length === 0 ? [] : await backend.settle(known.map(({ settlement }) => settlement))
  const told = new Map(known.map(({ settlement, receipt }, at) => [settlement, toldOf(receipt, receipts[at] as FinalReceipt)]))
  return decided.map((each) => (each === null ? 'lost' : (told.get(each.settlement) as EndReceipt)))
}

/** What was decided, unless it came to something else. */
function toldOf(decided: EndReceipt, receipt: FinalReceipt): EndReceipt {
  return receipt === 'applied' ? decided : receipt
}

async function decide(ended: EndedAttempt, lease: HeldLease, service: JobService): Promise<Decided | null> {
  const { settings, registry, keys } = service.queue
  const identity = parseIdentity(lease.identity)
  const outcome = identity === undefined ? null : await outcomeOf(ended, lease, identity, service)
  if (identity === undefined || outcome === null) return null
  const keep = keepOf(registry, settings.keep)(lease.job)
  const settlement = settlementOf(outcome, lease.token, lease.attempt, settings.clock.now(), keep)
  if (settlement === null) return null
  const isEnd = outcome.kind === 'done' || outcome.kind === 'dead' || outcome.kind === 'cancelled'
  return {
    settlement: sealed(settlement, lease.id, keys),
    receipt: receiptOf(outcome),
    overtakes: isEnd ? scheduledRun(identity, lease.claimedAt, service.queue) : null,
  }
}

async function outcomeOf(
  ended: EndedAttempt,
  lease: HeldLease,
  identity: Identity,
  service: JobService,
): Promise<Outcome | null> {
  const { settings } = service.queue
  switch (ended.outcome) {
    case 'done':
      return doneOf(ended.result, lease, identity, service)
    case 'fail': {
      const definition = service.creating.definitionOf(lease.job)
      const { attempt } = lease
      const random = () => settings.clock.random()
      const outcome = outcomeOfFailure(errorOf(ended.error), {
        definition,
        attempt,
        maxAttempts: identity.maxRetries + 1,
        random,
      })
      if (outcome.kind !== 'retry' || ended.delay === undefined) return outcome
      return { ...outcome, delayMs: parseDuration(ended.delay, 'delay') }
    }
    case 'dead':
      return { kind: 'dead', reason: 'permanent', error: errorOf(ended.error) }
    case 'release':
      return { kind: 'snooze', delayMs: ended.delay === undefined ? 0 : parseDuration(ended.delay, 'delay') }
    case 'cancelled':
      return { kind: 'cancelled' }
  }
}

const maxResultBytes = 1024 * 1024

async function doneOf(
  result: unknown,
  lease: HeldLease,
  identity: Identity,
  { queue, creating }: JobService,
): Promise<Outcome | null> {
  const what = `result of "${lease.job}"`
  const text = result === undefined ? null : toJson(result, { what, maxBytes: maxResultBytes })
  const { idempotencyKey, repeat } = identity
  const once = creating.onceMarkOf(lease.job, idempotencyKey)
  if (repeat === null) return { kind: 'done', result: text, once, again: null }
  const record = await queue.backend.store.get(lease.id)
  if (record === null) return null
  const run = { scheduledAt: record.runAt, startedAt: lease.claimedAt, finishedAt: queue.settings.clock.now() }
  const runAt = nextAfter(identity, run, queue.settings.logger)
  const next = { identity: lastBegunAt(identity, lease.claimedAt), payload: record.payload }
  const again = runAt === null ? null : reseal(record, { ...next, runAt }, queue.keys)
  return { kind: 'done', result: text, once, again }
}

function errorOf({ message, code, stack }: { readonly message: string; readonly code?: string; readonly stack?: string }): Error {
  return Object.assign(new Error(message), { code, stack })
}

function receiptOf(outcome: Outcome): EndReceipt {
  switch (outcome.kind) {
    case 'done':
      return 'done'
    case 'retry':
      return 'retried'
    case 'dead':
      return 'dead'
    case 'cancelled':
      return 'cancelled'
    default:
      return 'released'
  }
}
