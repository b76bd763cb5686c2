import type { GroupLimits } from '../limits.ts'
import { rateScope } from '../rate-scope.ts'
import type { Tokens } from '../tokens.ts'
import type { GroupLanes } from './group-lanes.ts'
import type { Lane } from './lane.ts'
import type { Rates } from './rates.ts'

/** A limit is looked up again after so long: the one that is in force may be another one by then. */
const longestHoldMs = 60_000

/** What one claim takes of each group, over all of the group's lanes. */
export class GroupSlots {
  readonly #lanes: GroupLanes
  readonly #rates: Rates
  readonly #now: number
  readonly #started = new Map<string, number>()
  readonly #tokens = new Map<string, Tokens>()
  readonly #held = new Map<string, { readonly lane: Lane; readonly until: number }>()

  constructor(lanes: GroupLanes, rates: Rates, now: number) {
    this.#lanes = lanes
    this.#rates = rates
    this.#now = now
  }

  /** How many of the group's jobs this claim has taken. */
  started({ job, grp }: Lane): number {
    return this.#started.get(groupKey(job, grp)) ?? 0
  }

  /** Whether the group's rate lets another job through; where it does not, the group is left alone until it does. */
  mayStart(lane: Lane, { rate }: GroupLimits): boolean {
    if (rate === null) return true
    const key = groupKey(lane.job, lane.grp)
    const tokens = this.#tokens.get(key) ?? this.#rates.tokens(rateScope.group(lane.job, lane.grp), rate, this.#now)
    this.#tokens.set(key, tokens)
    if (tokens.left > 0) return true
    this.#held.set(key, { lane, until: Math.min(tokens.nextAt, this.#now + longestHoldMs) })
    return false
  }

  /** Gives the group's new turn. */
  take(lane: Lane): number {
    const key = groupKey(lane.job, lane.grp)
    this.#started.set(key, (this.#started.get(key) ?? 0) + 1)
    this.#tokens.get(key)?.take()
    return this.#lanes.serve(lane)
  }

  get tokens(): readonly Tokens[] {
    return [...this.#tokens.values()]
  }

  /** Takes the groups that are out of tokens out of those that wait; tells when the first of them comes back. */
  hold(): number | null {
    let first: number | null = null
    for (const { lane, until } of this.#held.values()) {
      this.#lanes.hold(lane, until)
      if (first === null || until < first) first = until
    }
    return first
  }
}

function groupKey(job: string, group: string): string {
  return `${job}\n${group}`
}
