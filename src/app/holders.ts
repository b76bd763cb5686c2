import type { SendReceipt } from '../backends/contract.ts'
import type { AmendAnswer, JobRecord, JobStore } from '../backends/store.ts'
import { TreadleError } from '../core/errors.ts'
import type { Envelope } from '../envelope/envelope.ts'
import { type Plan, type SealingDeps, sealJob, type WrittenPayload, writePayload } from './sealing.ts'

export interface HoldersDeps {
  readonly store: JobStore
  readonly sealing: SealingDeps
  readonly maxPayloadBytes: number
  readonly send: (envelope: Envelope) => Promise<SendReceipt>
}

/** So often others may come first before it is given up. */
const mostRounds = 50

/** Whether a job whose unique key is held is to change the holder in place of being left out. */
export function mayChangeHolder({ uniqueness }: Plan): boolean {
  return uniqueness !== null && uniqueness.onConflict !== 'ignore'
}

/** Sends jobs that change the waiting job which holds their unique key. Within this program they do it one after the other. */
export class Holders {
  readonly #deps: HoldersDeps
  readonly #lasts = new Map<string, Promise<unknown>>()

  constructor(deps: HoldersDeps) {
    this.#deps = deps
  }

  send(plan: Plan, payload: WrittenPayload): Promise<SendReceipt> {
    return this.#inTurn(`${plan.definition.job}\n${payload.uniqueKey}`, () => this.#send(plan, payload))
  }

  /** Resolves when everything that was given to `send` has been answered. */
  async idle(): Promise<void> {
    while (this.#lasts.size > 0) await Promise.allSettled(this.#lasts.values())
  }

  /** A holder that does not wait any more may have freed the key; one that holds it all the same is left as it is. */
  async #send(plan: Plan, payload: WrittenPayload): Promise<SendReceipt> {
    const envelope = sealJob(plan, payload, this.#deps.sealing)
    let unchangeable: string | undefined
    for (let round = 0; round < mostRounds; round++) {
      const receipt = await this.#deps.send(envelope)
      if (receipt.stored || receipt.id === unchangeable) return receipt
      const answer = await this.#change(receipt.id, plan, payload)
      if (answer === 'amended') return receipt
      if (answer !== 'changed') unchangeable = receipt.id
    }
    const message = `The job that holds the unique key "${payload.uniqueKey}" of "${plan.definition.job}" was changed by others ${mostRounds} times in between. Dispatch it again.`
    throw new TreadleError('KEY_CONTENDED', message)
  }

  async #change(holder: string, plan: Plan, payload: WrittenPayload): Promise<AmendAnswer> {
    const { store, sealing } = this.#deps
    const isMerge = plan.uniqueness?.onConflict === 'merge'
    const maxWaitMs = plan.uniqueness?.debounce?.maxWaitMs ?? null
    const record = isMerge || maxWaitMs !== null ? await store.get(holder) : undefined
    if (record === null) return 'missing'
    const written = isMerge && record !== undefined ? await this.#merged(plan, record, payload) : payload
    const sealed = sealJob(plan, written, { ...sealing, newId: () => holder })
    const latest = maxWaitMs === null || record === undefined ? sealed.runAt : record.createdAt + maxWaitMs
    const envelope = { ...sealed, runAt: Math.min(sealed.runAt, latest) }
    const [answer] = await store.amend([{ id: holder, expected: isMerge && record ? record.payload : null, envelope }])
    return answer as AmendAnswer
  }

  /** Checked and written as if it had been dispatched like that. */
  async #merged(plan: Plan, record: JobRecord, payload: WrittenPayload): Promise<WrittenPayload> {
    const merged = mergedPayload(JSON.parse(record.payload), JSON.parse(payload.text))
    const written = await writePayload(plan, merged, this.#deps.maxPayloadBytes)
    return { ...written, uniqueKey: payload.uniqueKey }
  }

  #inTurn<Answer>(key: string, work: () => Promise<Answer>): Promise<Answer> {
    const turn = (this.#lasts.get(key) ?? Promise.resolve()).then(work, work)
    this.#lasts.set(key, turn)
    const end = () => {
      if (this.#lasts.get(key) === turn) this.#lasts.delete(key)
    }
    turn.then(end, end)
    return turn
  }
}

/** Member by member where both are objects, and no deeper; anything else is replaced. */
export function mergedPayload(old: unknown, added: unknown): unknown {
  return isObject(old) && isObject(added) ? { ...old, ...added } : added
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
