import type { Steps } from '../../../core/answer.ts'
import type { JobStore } from '../../../queue/contract/store.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { holdsOn, isLasting, type LastingKey, type UniqueKeys } from '../keys/unique-keys.ts'
import { digestOfKey, type JobChange, type JobRow, unresulted } from '../rows/job-row.ts'
import { isJobId } from '../rows/lease-token.ts'
import type { LoadedJobs } from '../rows/loaded-jobs.ts'
import { stateNumber } from '../rows/tables.ts'
import type { Transactions } from '../transactions/transactions.ts'

type RetryAnswer = Awaited<ReturnType<JobStore['retry']>>[number]

export interface ReplayingParts {
  readonly transactions: Transactions
  readonly uniqueKeys: UniqueKeys
}

/** Puts ended jobs back. */
export class Replaying {
  readonly #parts: ReplayingParts

  constructor(parts: ReplayingParts) {
    this.#parts = parts
  }

  /** If a job with the same key is sent at the same time, the transaction is retried, so that one of them comes first. */
  *retry(ids: readonly string[], time: QueueTime): Steps<readonly RetryAnswer[]> {
    const known = ids.filter(isJobId)
    if (known.length === 0) return ids.map(() => 'missing')
    return yield* this.#parts.transactions.withJobs(known, time, (hand) => this.#retryAll(hand, ids))
  }

  *#retryAll(hand: LoadedJobs, ids: readonly string[]): Steps<readonly RetryAnswer[]> {
    const barred = yield* this.#barred(hand, ids)
    return ids.map((id) => {
      const row = hand.get(id)
      if (row === undefined) return 'missing'
      if (row.state <= stateNumber.running) return 'active'
      if (barred.has(id)) return 'conflict'
      hand.change(id, putBack(hand.now))
      return 'requeued'
    })
  }

  /** The jobs whose keys are held by others. The rest take back the keys they no longer hold. */
  *#barred(hand: LoadedJobs, ids: readonly string[]): Steps<ReadonlySet<string>> {
    const { uniqueKeys } = this.#parts
    const keyed = [...new Set(ids)].flatMap((id) => hand.get(id) ?? []).filter(isEndedWithKey)
    const holders = new Map(yield* uniqueKeys.holders(hand.session, [...new Set(keyed.map(digestOf))].sort(), hand.now))
    const barred = new Set<string>()
    const wanted: LastingKey[] = []
    for (const row of keyed) {
      const holder = holders.get(digestOf(row))
      if (holder !== undefined && holder !== row.id) barred.add(row.id)
      else if (holder === undefined && holdsOn(row.unique_until, hand.now)) {
        holders.set(digestOf(row), row.id)
        if (isLasting(row.unique_until)) wanted.push({ held_key: digestOf(row), job_id: row.id, until: row.unique_until })
      }
    }
    const got = yield* uniqueKeys.take(hand.session, wanted, hand.now)
    for (const { held_key, job_id } of wanted) if (!got.has(held_key)) barred.add(job_id)
    return barred
  }
}

/** The token is cleared too: an earlier holder no longer holds the job. */
function putBack(now: number): JobChange {
  return {
    state: stateNumber.ready,
    run_at: now,
    attempts: 0,
    rescues: 0,
    begun: 0,
    token: null,
    started_at: null,
    finished_at: null,
    ...unresulted,
    progress: null,
    reason: null,
  }
}

function isEndedWithKey({ state, unique_key }: JobRow): boolean {
  return state > stateNumber.running && unique_key !== null
}

function digestOf({ unique_key }: JobRow): string {
  return digestOfKey(unique_key as string)
}
