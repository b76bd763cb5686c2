import type { ClaimRules, Hold } from '../contract.ts'
import { holdsOf } from '../holds.ts'
import { rateScope } from '../rate-scope.ts'
import type { Lanes } from './lanes.ts'
import type { QueueTime } from './queue-time.ts'
import type { Rates } from './rates.ts'
import { Running } from './running.ts'
import type { SqlDatabase } from './session.ts'
import { isReady } from './tables.ts'
import { isJobId } from './token.ts'

export interface HoldingParts {
  readonly database: SqlDatabase
  readonly lanes: Lanes
  readonly rates: Rates
}

/** Tells which limits keep a ready job waiting. */
export class Holding {
  readonly #parts: HoldingParts

  constructor(parts: HoldingParts) {
    this.#parts = parts
  }

  async holds(id: string, rules: ClaimRules, time: QueueTime): Promise<readonly Hold[]> {
    const { database, lanes, rates } = this.#parts
    const place = await this.#placeOf(id)
    if (place === undefined) return []
    await lanes.numbered(database, [place.lane])
    const { job, queue, grouped } = lanes.get(place.lane)
    const group = grouped === 1 ? place.grp : null
    const running = await Running.read(database, lanes)
    const scopes = [rateScope.job(job), rateScope.queue(queue), rateScope.group(job, group ?? '')]
    const logs = await rates.read(database, scopes)
    const facts = {
      job,
      queue,
      group,
      isAlone: await this.#isAlone(job),
      runningOfKey: running.runningOf(job),
      runningInQueue: running.runningIn(queue),
      runningInGroup: running.runningInGroup(job, group ?? ''),
      logOf: (scope: string) => logs.of(scope),
      now: time.now(),
    }
    return holdsOf(facts, rules)
  }

  /** Where it stands, while it is ready. */
  async #placeOf(id: string): Promise<{ readonly lane: number; readonly grp: string } | undefined> {
    if (!isJobId(id)) return undefined
    const [place] = await this.#parts.database.all<{ lane: number; grp: string }>(
      `SELECT lane, grp FROM {jobs} WHERE id = ? AND ${isReady}`,
      [id],
    )
    return place
  }

  /** Whether a ready job of this key must run alone. */
  async #isAlone(job: string): Promise<boolean> {
    const { database, lanes } = this.#parts
    const ready = await database.all<{ lane: number }>(database.dialect.readyLanes)
    const found = await lanes.numbered(
      database,
      ready.map(({ lane }) => lane),
    )
    return found.some((lane) => lane.job === job && lane.single === 1)
  }
}
