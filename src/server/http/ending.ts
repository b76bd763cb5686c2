import { keepOf } from '../../app/retention.ts'
import type { Settlement } from '../../backends/contract.ts'
import type { HeldLease, JobRecord } from '../../backends/store.ts'
import type { SettledMany, Settlements } from '../../client/api/lease-shapes.ts'
import { parseDuration } from '../../core/duration.ts'
import { toJson } from '../../core/json.ts'
import { type Identity, type Opened, openEnvelope, parseIdentity } from '../../envelope/envelope.ts'
import { reseal } from '../../envelope/reseal.ts'
import { type ScheduledRun, skipOvertaken } from '../../execution/occurrence.ts'
import { type Outcome, outcomeOfFailure, settlementOf } from '../../execution/outcome.ts'
import { lastBegunAt, nextAfter } from '../../execution/repeating.ts'
import { type FinalReceipt, sealed, sealingKeys } from '../../execution/sealing.ts'
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
  const verified = await verify(ended, lease, service)
  if (verified === null) return null
  const { identity } = verified
  const outcome = verified.refused ?? outcomeOf(ended, lease, verified, service)
  const keep = keepOf(registry, settings.keep)(lease.job)
  const settlement = settlementOf(outcome, lease.token, lease.attempt, settings.clock.now(), keep)
  if (settlement === null) return null
  const isEnd = outcome.kind === 'done' || outcome.kind === 'dead' || outcome.kind === 'cancelled'
  return {
    settlement: sealed(
      settlement,
      lease,
      verified.written === null ? keys : sealingKeys({ envelope: verified.written.record }, keys),
    ),
    receipt: receiptOf(outcome),
    overtakes: isEnd && identity !== null ? scheduledRun(identity, lease.claimedAt, service.queue) : null,
  }
}

/** What a lease was given for. */
interface Verified {
  /** Null where it was refused. */
  readonly identity: Identity | null
  /** Only where more is made of the job than that it has ended. */
  readonly written: { readonly opened: Opened; readonly record: JobRecord } | null
  /** What the job comes to that is not what was signed. */
  readonly refused: Outcome | null
}

/**
 * The end of most jobs takes nothing from what is written of them. Where it does, the job is verified once more: it may have been
 * changed since it was handed out. Null where it is gone.
 */
async function verify({ outcome }: EndedAttempt, lease: HeldLease, { queue }: JobService): Promise<Verified | null> {
  const claimed = parseIdentity(lease.identity)
  // Where jobs without a signature are accepted, this one may be such a job, whose end is not signed, either.
  const isSigned = queue.keys?.acceptsUnsigned !== true
  if (claimed !== undefined && isPlain(claimed) && outcome !== 'fail' && isSigned)
    return { identity: claimed, written: null, refused: null }
  const record = await queue.backend.store.get(lease.id)
  if (record === null) return null
  try {
    const opened = openEnvelope(record, queue.keys)
    return { identity: opened.identity, written: { opened, record }, refused: null }
  } catch (error) {
    return { identity: null, written: null, refused: { kind: 'dead', reason: 'rejected', error } }
  }
}

function isPlain({ repeat, idempotencyKey, occurrence }: Identity): boolean {
  return repeat === null && idempotencyKey === null && occurrence === null
}

function outcomeOf(ended: EndedAttempt, lease: HeldLease, { identity, written }: Verified, service: JobService): Outcome {
  const { settings } = service.queue
  switch (ended.outcome) {
    case 'done':
      return doneOf(ended.result, lease, written, service)
    case 'fail': {
      const definition = service.creating.definitionOf(lease.job)
      const { attempt } = lease
      const random = () => settings.clock.random()
      const outcome = outcomeOfFailure(errorOf(ended.error), {
        definition,
        attempt,
        maxAttempts: (identity?.maxRetries ?? 0) + 1,
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

function doneOf(result: unknown, lease: HeldLease, written: Verified['written'], { queue, creating }: JobService): Outcome {
  const what = `result of "${lease.job}"`
  const text = result === undefined ? null : toJson(result, { what, maxBytes: maxResultBytes })
  if (written === null) return { kind: 'done', result: text, once: null, again: null }
  const { opened, record } = written
  const { identity } = opened
  const once = creating.onceMarkOf(identity.job, identity.idempotencyKey)
  const run = { scheduledAt: record.runAt, startedAt: lease.claimedAt, finishedAt: queue.settings.clock.now() }
  const runAt = nextAfter(identity, run, queue.settings.logger)
  const contents = { identity: lastBegunAt(identity, lease.claimedAt) }
  const again = runAt === null ? null : reseal(opened, record, { ...contents, runAt }, queue.keys)
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
