import type { GroupLimits, JobLimits } from '../../../queue/contract/limits.ts'
import { rateScope } from '../../../queue/limits/rate-scope.ts'
import type { Tokens } from '../../../queue/limits/rate-tokens.ts'
import type { Slots } from '../../../queue/limits/slots.ts'
import type { Lane } from '../lanes/lanes.ts'
import type { GroupRow } from './groups.ts'
import type { RateLogs } from './rates.ts'
import { groupKey, type Running } from './running.ts'

/** How long a group is held at most before its limit is checked again: a different limit may be in force by then. */
const longestHoldMs = 60_000

/** A ready job that a claim may take. */
export interface Candidate {
  readonly id: string
  readonly run_at: number
}

/** The first ready jobs of a lane, in order. */
export interface LaneCandidates {
  readonly lane: Lane
  readonly level: number
  readonly headStartMs: number
  readonly jobs: readonly Candidate[]
}

/** The same for a lane with groups: some groups, in order of their turns, each with its first jobs. */
export interface GroupedCandidates extends Omit<LaneCandidates, 'jobs'> {
  readonly groups: readonly CandidateGroup[]
}

export interface CandidateGroup extends GroupRow {
  readonly jobs: readonly Candidate[]
  /** Whether as many jobs were read as were asked for. */
  readonly mayHaveMore: boolean
}

export interface PickParts {
  readonly slots: Slots
  readonly running: Running
  readonly rateLogs: RateLogs
  readonly limits: ReadonlyMap<string, JobLimits>
  /** The last turn of each lane with groups. */
  readonly turns: ReadonlyMap<number, number>
  readonly now: number
}

export interface Picked {
  readonly id: string
  readonly lane: Lane
  readonly group: string | null
}

interface Head {
  readonly job: Candidate
  readonly group: WaitingGroup | null
}

interface WaitingGroup {
  readonly job: string
  readonly row: GroupRow
  readonly jobs: readonly Candidate[]
  readonly key: string
  next: number
  turn: number
}

const noGroupLimits: GroupLimits = { concurrency: null, rate: null }

/**
 * Chooses the best of the jobs that were read and may start: by level, then by time. Among groups, it takes the one with the
 * fewest running jobs, and of those the least recently served one. Writes nothing.
 */
export class Picking {
  readonly #parts: PickParts
  readonly #started = new Map<string, number>()
  readonly #tokens = new Map<string, Tokens>()
  readonly #turns: Map<number, number>
  readonly #held = new Map<string, number>()
  readonly #served = new Map<WaitingGroup, GroupRow>()

  constructor(parts: PickParts) {
    this.#parts = parts
    this.#turns = new Map(parts.turns)
  }

  pick(lanes: readonly LaneCandidates[], grouped: readonly GroupedCandidates[], limit: number): readonly Picked[] {
    const readers = [...lanes.map((lane) => this.#laneReader(lane)), ...grouped.map((lane) => this.#groupReader(lane))]
    const picks: Picked[] = []
    while (picks.length < limit) {
      const best = bestOf(readers)
      if (best === null) break
      const { reader, head } = best
      if (!this.#parts.slots.take(reader.lane)) {
        reader.close()
        continue
      }
      reader.take(head)
      picks.push({ id: head.job.id, lane: reader.lane, group: head.group?.row.grp ?? null })
    }
    return picks
  }

  /** The group rates that this claim has met. */
  get tokens(): readonly Tokens[] {
    return [...this.#tokens.values()]
  }

  /** Groups that are out of tokens, by key and name, and until when. */
  get held(): ReadonlyMap<string, number> {
    return this.#held
  }

  /** Groups that were served, with their new turns. */
  get served(): readonly GroupRow[] {
    return [...this.#served.values()]
  }

  /** The lanes whose last turn must be stored, because the waiting groups alone may no longer tell it. */
  get lastTurns(): ReadonlyMap<number, number> {
    const isOther = (lane: number, turn: number) => turn !== this.#parts.turns.get(lane) || this.#held.size > 0
    return new Map([...this.#turns].filter(([lane, turn]) => isOther(lane, turn)))
  }

  #laneReader({ lane, level, headStartMs, jobs }: LaneCandidates): Reader {
    let next = 0
    return {
      lane,
      level,
      headStartMs,
      head: () => (next < jobs.length ? { job: jobs[next] as Candidate, group: null } : null),
      take: () => {
        next++
      },
      close: () => {
        next = jobs.length
      },
    }
  }

  #groupReader({ lane, level, headStartMs, groups }: GroupedCandidates): Reader {
    const limits = this.#parts.limits.get(lane.job)?.group ?? noGroupLimits
    let waiting = groups.map((group) => this.#waitingGroup(lane, group))
    return {
      lane,
      level,
      headStartMs,
      head: () => {
        waiting = waiting.filter((group) => group.next < group.jobs.length && this.#mayStart(group, limits))
        const first = this.#firstOf(waiting)
        return first === null ? null : { job: first.jobs[first.next] as Candidate, group: first }
      },
      take: ({ group }) => this.#serve(lane, group as WaitingGroup),
      close: () => {
        waiting = []
      },
    }
  }

  #waitingGroup({ job }: Lane, { jobs, ...row }: CandidateGroup): WaitingGroup {
    return { job, row, jobs, key: groupKey(job, row.grp), next: 0, turn: row.turn }
  }

  #mayStart(group: WaitingGroup, { concurrency, rate }: GroupLimits): boolean {
    if (concurrency !== null && this.#busy(group) >= concurrency) return false
    if (rate === null) return true
    const { key, job, row } = group
    const { rateLogs, now } = this.#parts
    const tokens = this.#tokens.get(key) ?? rateLogs.tokens(rateScope.group(job, row.grp), rate, now)
    this.#tokens.set(key, tokens)
    if (tokens.left > 0) return true
    this.#held.set(key, Math.min(tokens.nextAt, now + longestHoldMs))
    return false
  }

  #busy({ job, row, key }: WaitingGroup): number {
    return this.#parts.running.runningInGroup(job, row.grp) + (this.#started.get(key) ?? 0)
  }

  #firstOf(waiting: readonly WaitingGroup[]): WaitingGroup | null {
    let first: { readonly group: WaitingGroup; readonly busy: number } | null = null
    for (const group of waiting) {
      const busy = this.#busy(group)
      if (first === null || isServedFirst(group, busy, first.group, first.busy)) first = { group, busy }
    }
    return first?.group ?? null
  }

  #serve({ lane }: Lane, group: WaitingGroup): void {
    const turn = (this.#turns.get(lane) ?? 0) + 1
    this.#turns.set(lane, turn)
    this.#started.set(group.key, (this.#started.get(group.key) ?? 0) + 1)
    this.#tokens.get(group.key)?.take()
    group.turn = turn
    group.next++
    this.#served.set(group, { ...group.row, turn })
  }
}

/** Ready jobs in the order in which they are to be claimed. */
interface Reader {
  readonly lane: Lane
  readonly level: number
  readonly headStartMs: number
  head(): Head | null
  take(head: Head): void
  close(): void
}

function bestOf(readers: readonly Reader[]): { readonly reader: Reader; readonly head: Head } | null {
  let best: { readonly reader: Reader; readonly head: Head } | null = null
  for (const reader of readers) {
    const head = reader.head()
    if (head !== null && (best === null || isBetter(reader, head, best.reader, best.head))) best = { reader, head }
  }
  return best
}

function isBetter(one: Reader, oneHead: Head, other: Reader, otherHead: Head): boolean {
  if (one.level !== other.level) return one.level < other.level
  const [rank, otherRank] = [oneHead.job.run_at - one.headStartMs, otherHead.job.run_at - other.headStartMs]
  return rank === otherRank ? oneHead.job.id < otherHead.job.id : rank < otherRank
}

/** Groups that arrived at the same moment are served in the order of their first jobs. */
function isServedFirst(a: WaitingGroup, aBusy: number, b: WaitingGroup, bBusy: number): boolean {
  if (aBusy !== bBusy) return aBusy < bBusy
  if (a.turn !== b.turn) return a.turn < b.turn
  const [one, other] = [a.jobs[a.next] as Candidate, b.jobs[b.next] as Candidate]
  return one.run_at === other.run_at ? one.id < other.id : one.run_at < other.run_at
}
