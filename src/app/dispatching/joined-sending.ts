import { answerOf, type Steps, wait } from '../../core/answer.ts'
import { TreadleError } from '../../core/errors.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import type { DispatchOptions } from '../../definition/dispatching/dispatch.ts'
import type { Envelope } from '../../envelope/envelope.ts'
import type { JoinedQueue, QueueBackend, SendReceipt } from '../../queue/contract/contract.ts'
import { sealWorkflow, type WrittenStep } from '../workflows/workflow-sealing.ts'
import { mayChangeHolder, sendOrChange } from './changing-holders.ts'
import {
  type PlaceInWorkflow,
  type Plan,
  planDispatch,
  type SealingDeps,
  sealJob,
  type WrittenPayload,
  writePayload,
} from './sealing.ts'

/** A job of a workflow that is dispatched as a whole. */
export interface PlacedJob {
  readonly definition: JobDefinition
  readonly payload: unknown
  readonly options: DispatchOptions
  readonly place: PlaceInWorkflow
}

export interface JoinedSendingDeps {
  readonly backend: QueueBackend
  readonly sealing: SealingDeps
  readonly maxPayloadBytes: number
  /** Called within the caller's transaction, which may still be rolled back. */
  readonly onSent: (envelopes: readonly Envelope[], receipts: readonly SendReceipt[]) => void
}

/**
 * Sends jobs in the caller's transaction, which the options name: one set of options for all payloads, or one for each. The jobs
 * become visible when it commits. They are not batched with other sends.
 */
export function* sendJoined(
  definition: JobDefinition,
  payloads: readonly unknown[],
  options: DispatchOptions | readonly DispatchOptions[],
  deps: JoinedSendingDeps,
): Steps<readonly SendReceipt[]> {
  const { sealing, maxPayloadBytes } = deps
  const each = [options].flat()
  const [first = {}] = each
  const plans = new Map([...new Set(each)].map((one) => [one, planDispatch(definition, one, sealing.now())]))
  const planOf = (index: number) => plans.get(each[index] ?? first) as Plan
  const written: WrittenPayload[] = []
  for (const [index, payload] of payloads.entries())
    written.push(yield* wait(writePayload(planOf(index), payload, maxPayloadBytes)))
  if (written.length === 0) return []
  const queue = yield* joined(first.in, definition, deps)
  const isPlain = ![...plans.values()].some(mayChangeHolder)
  if (isPlain) return yield* wait(queue.send(written.map((payload, index) => sealJob(planOf(index), payload, sealing))))
  const receipts: SendReceipt[] = []
  for (const [index, payload] of written.entries())
    receipts.push(yield* sendOrChange(planOf(index), payload, { queue, sealing, maxPayloadBytes }))
  return receipts
}

/** Sends the jobs of a workflow in the caller's transaction: all of them or none. */
export function* sendWorkflowJoined(
  jobs: readonly PlacedJob[],
  tx: unknown,
  deps: JoinedSendingDeps,
): Steps<readonly SendReceipt[]> {
  const { sealing, maxPayloadBytes } = deps
  const written: WrittenStep[] = []
  for (const { definition, payload, options, place } of jobs) {
    const plan = planDispatch(definition, options, sealing.now())
    written.push({ plan, place, payload: yield* wait(writePayload(plan, payload, maxPayloadBytes)) })
  }
  const envelopes = sealWorkflow(written, sealing)
  const queue = yield* joined(tx, jobs[0]?.definition as JobDefinition, deps)
  return yield* wait(queue.send(envelopes))
}

function* joined(tx: unknown, { job }: JobDefinition, { backend, onSent }: JoinedSendingDeps): Steps<JoinedQueue> {
  const { kind, transactions } = backend
  if (transactions !== undefined) return announced(yield* wait(transactions.join(tx)), onSent)
  const message = `Dispatch of "${job}": only a queue in a SQL database can join a transaction, and the ${kind} backend is not one`
  throw new TreadleError('CAPABILITY_MISSING', message)
}

function announced(queue: JoinedQueue, onSent: JoinedSendingDeps['onSent']): JoinedQueue {
  function* sent(envelopes: readonly Envelope[]): Steps<readonly SendReceipt[]> {
    const receipts = yield* wait(queue.send(envelopes))
    onSent(envelopes, receipts)
    return receipts
  }
  return {
    send: (envelopes) => answerOf(sent(envelopes)),
    get: (id) => queue.get(id),
    amend: (changes) => queue.amend(changes),
    settle: (settlement) => queue.settle(settlement),
  }
}
