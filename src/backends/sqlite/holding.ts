import type { ClaimRules, Hold } from '../contract.ts'
import { holdsOf } from '../holds.ts'
import type { Addresses } from './addresses.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'
import type { Lane } from './lane.ts'
import type { Lanes } from './lanes.ts'
import type { Rates } from './rates.ts'

interface HoldingParts {
  readonly lanes: Lanes
  readonly addresses: Addresses
  readonly rates: Rates
}

/** Tells which limits keep a ready job waiting. */
export class Holding {
  readonly #parts: HoldingParts
  readonly #lane: SqliteStatement

  constructor(connection: Connection, parts: HoldingParts) {
    this.#parts = parts
    this.#lane = connection.prepare('SELECT lane FROM treadle_jobs WHERE seq = ? AND state = 0')
  }

  holds(id: string, rules: ClaimRules, now: number): readonly Hold[] {
    const { lanes, addresses, rates } = this.#parts
    const found = this.#lane.get(addresses.find(id) ?? null) as { lane: number } | undefined
    if (found === undefined) return []
    const lane = lanes.get(found.lane) as Lane
    const { job, queue } = lane
    const facts = {
      job,
      queue,
      group: lane.grouped === 1 ? lane.grp : null,
      isAlone: lanes.ready().some((each) => each.job === job && each.single === 1),
      runningOfKey: lanes.runningOf(job),
      runningInQueue: lanes.runningIn(queue),
      runningInGroup: lanes.groups.busyOf(lane),
      logOf: (scope: string) => rates.logOf(scope),
      now,
    }
    return holdsOf(facts, rules)
  }
}
