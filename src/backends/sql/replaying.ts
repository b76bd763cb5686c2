import type { JobStore } from '../store.ts'
import { digestOfKey, type JobChange, type JobRow, unresulted } from './job-row.ts'
import type { JobsInHand } from './jobs-in-hand.ts'
import type { QueueTime } from './queue-time.ts'
import { stateNumber } from './tables.ts'
import { isJobId } from './token.ts'
import type { Transactions } from './transactions.ts'
import { holdsOn, isLasting, type LastingKey, type UniqueKeys } from './unique-keys.ts'

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

  /** Whoever sends a job with the key of one that is being put back comes before it or after it: the transaction is tried again. */
  async retry(ids: readonly string[], time: QueueTime): Promise<readonly RetryAnswer[]> {
    let answers: readonly RetryAnswer[] = ids.map(() => 'missing')
    const known = ids.filter(isJobId)
    if (known.length === 0) return answers
    await this.#parts.transactions.withJobs(known, time, async (hand) => {
      const barred = await this.#barred(hand, ids)
      answers = ids.map((id) => {
        const row = hand.get(id)
        if (row === undefined) return 'missing'
        if (row.state <= stateNumber.running) return 'active'
        if (barred.has(id)) return 'conflict'
        hand.change(id, putBack(hand.now))
        return 'requeued'
      })
    })
    return answers
  }

  /** Of these jobs, those whose keys others have. What the rest no longer hold they take again. */
  async #barred(hand: JobsInHand, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const { uniqueKeys } = this.#parts
    const keyed = [...new Set(ids)].flatMap((id) => hand.get(id) ?? []).filter(isEndedWithKey)
    const holders = new Map(await uniqueKeys.holders(hand.session, [...new Set(keyed.map(digestOf))].sort(), hand.now))
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
    const got = await uniqueKeys.take(hand.session, wanted, hand.now)
    for (const { held_key, job_id } of wanted) if (!got.has(held_key)) barred.add(job_id)
    return barred
  }
}

/** The token goes too: whoever held the job once holds it no more. */
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
