import type { JoinedQueue, SendReceipt, WaitingPayload } from '../backends/contract.ts'
import type { AmendAnswer } from '../backends/store.ts'
import { type Steps, wait } from '../core/answer.ts'
import { TreadleError } from '../core/errors.ts'
import { type Plan, type SealingDeps, sealJob, type WrittenPayload, writePayload } from './sealing.ts'

export interface ChangingDeps {
  readonly queue: Pick<JoinedQueue, 'send' | 'get' | 'amend'>
  readonly sealing: SealingDeps
  readonly maxPayloadBytes: number
}

/** So often others may come first before it is given up. */
const mostRounds = 50

/** Whether a job whose unique key is held is to change the holder in place of being left out. */
export function mayChangeHolder({ uniqueness }: Plan): boolean {
  return uniqueness !== null && uniqueness.onConflict !== 'ignore'
}

/**
 * Sends a job, or changes the waiting one that holds its unique key. A holder that does not wait any more may have freed the key;
 * one that holds it all the same is left as it is.
 */
export function* sendOrChange(plan: Plan, payload: WrittenPayload, deps: ChangingDeps): Steps<SendReceipt> {
  const envelope = sealJob(plan, payload, deps.sealing)
  let unchangeable: string | undefined
  for (let round = 0; round < mostRounds; round++) {
    const [receipt] = (yield* wait(deps.queue.send([envelope]))) as readonly [SendReceipt]
    if (receipt.stored || receipt.id === unchangeable) return receipt
    const answer = yield* change(receipt.id, plan, payload, deps)
    if (answer === 'amended') return receipt
    if (answer !== 'changed') unchangeable = receipt.id
  }
  const message = `The job that holds the unique key "${payload.uniqueKey}" of "${plan.definition.job}" was changed by others ${mostRounds} times in between. Dispatch it again.`
  throw new TreadleError('KEY_CONTENDED', message)
}

function* change(holder: string, plan: Plan, payload: WrittenPayload, deps: ChangingDeps): Steps<AmendAnswer> {
  const { queue, sealing } = deps
  const isMerge = plan.uniqueness?.onConflict === 'merge'
  const maxWaitMs = plan.uniqueness?.debounce?.maxWaitMs ?? null
  const record = isMerge || maxWaitMs !== null ? yield* wait(queue.get(holder)) : undefined
  if (record === null) return 'missing'
  const written = isMerge && record !== undefined ? yield* merged(plan, record, payload, deps) : payload
  const sealed = sealJob(plan, written, { ...sealing, newId: () => holder })
  const latest = maxWaitMs === null || record === undefined ? sealed.runAt : record.createdAt + maxWaitMs
  const envelope = { ...sealed, runAt: Math.min(sealed.runAt, latest) }
  const [answer] = yield* wait(queue.amend([{ id: holder, expected: isMerge && record ? record.payload : null, envelope }]))
  return answer as AmendAnswer
}

/** Checked and written as if it had been dispatched like that. */
function* merged(plan: Plan, record: WaitingPayload, payload: WrittenPayload, deps: ChangingDeps): Steps<WrittenPayload> {
  const whole = mergedPayload(JSON.parse(record.payload), JSON.parse(payload.text))
  const written = yield* wait(writePayload(plan, whole, deps.maxPayloadBytes))
  return { ...written, uniqueKey: payload.uniqueKey }
}

/** Member by member where both are objects, and no deeper; anything else is replaced. */
export function mergedPayload(old: unknown, added: unknown): unknown {
  return isObject(old) && isObject(added) ? { ...old, ...added } : added
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
