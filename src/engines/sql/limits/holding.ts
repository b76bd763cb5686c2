import { type Steps, wait } from '../../../core/answer.ts'
import type { ClaimRules, Hold } from '../../../queue/contract/contract.ts'
import { holdsOf } from '../../../queue/rules/limits/holds.ts'
import { rateScope } from '../../../queue/rules/limits/rate-scope.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { isReadyIn } from '../dialect.ts'
import type { Lanes } from '../lanes/lanes.ts'
import { isJobId } from '../rows/lease-token.ts'
import { isReady } from '../rows/tables.ts'
import type { SqlDatabase } from '../session.ts'
import { readRates } from './rates.ts'
import { Running } from './running.ts'

export interface HoldingParts {
  readonly database: SqlDatabase
  readonly lanes: Lanes
}

/** Tells which limits keep a ready job waiting. */
export class Holding {
  readonly #parts: HoldingParts

  constructor(parts: HoldingParts) {
    this.#parts = parts
  }

  *holds(id: string, rules: ClaimRules, time: QueueTime): Steps<readonly Hold[]> {
    const { database, lanes } = this.#parts
    const place = yield* this.#placeOf(id)
    if (place === undefined) return []
    yield* lanes.numbered(database, [place.lane])
    const { job, queue, grouped } = lanes.get(place.lane)
    const group = grouped === 1 ? place.grp : null
    const running = yield* Running.read(database, lanes)
    const scopes = [rateScope.job(job), rateScope.queue(queue), rateScope.group(job, group ?? '')]
    const rates = yield* readRates(database, scopes)
    const facts = {
      job,
      queue,
      group,
      isAlone: yield* this.#isAlone(job),
      runningOfKey: running.ofJobs.get(job) ?? 0,
      runningInQueue: running.inQueues.get(queue) ?? 0,
      runningInGroup: running.inGroup(job, group ?? ''),
      logOf: (scope: string) => rates.get(scope)?.log ?? [],
      now: time.now(),
    }
    return holdsOf(facts, rules)
  }

  /** The job's place; undefined if it is not ready. */
  *#placeOf(id: string): Steps<{ readonly lane: number; readonly grp: string } | undefined> {
    if (!isJobId(id)) return undefined
    const [place] = yield* wait(
      this.#parts.database.all<{ lane: number; grp: string }>(`SELECT lane, grp FROM {jobs} WHERE id = ? AND ${isReady}`, [id]),
    )
    return place
  }

  /** Whether a ready job of this key must run alone. */
  *#isAlone(job: string): Steps<boolean> {
    const { database } = this.#parts
    const isReadyLane = `${isReadyIn(database.dialect, '{lanes}.lane')} = 1`
    const alone = `SELECT lane FROM {lanes} WHERE job = ? AND single = 1 AND ${isReadyLane} LIMIT 1`
    return (yield* wait(database.all(alone, [job]))).length > 0
  }
}
