import { type Steps, wait } from '../../../core/answer.ts'
import type { ClaimableJob, LeaseRequest } from '../../../queue/contract/contract.ts'
import { rateScope } from '../../../queue/rules/limits/rate-scope.ts'
import { earliest } from '../../../queue/time/earliest.ts'
import type { Lanes } from '../lanes/lanes.ts'
import type { RankedLane } from '../lanes/ranked-lanes.ts'
import type { SqlSession } from '../session.ts'
import type { GroupRow, Groups } from './groups.ts'
import { type CandidateGroup, LoadedClaim, type Picked } from './loaded-claim.ts'
import { readRates, writeRates } from './rates.ts'
import { Running } from './running.ts'

export interface LimitedParts {
  readonly lanes: Lanes
  readonly groups: Groups
}

/** Minimum number of jobs to read per group. */
const leastOfGroup = 4

export interface Chosen {
  readonly picks: readonly Picked[]
  /** There is nothing to claim and nothing else to write. */
  readonly isIdle: boolean
  /** When the first exhausted rate allows a job again; now if there may be more jobs than were read. */
  readonly nextTokenAt: number | null
  /** Records what was taken and when, for the jobs that were really claimed. */
  settle(claimed: ReadonlySet<string>, at: number): Steps<void>
}

type Named = ReadonlyMap<string, ClaimableJob>

/**
 * Reads the jobs that a claim under limits, groups and rates may take, and lets the rules choose among them. Only one transaction
 * does this at a time.
 */
export class LimitedClaiming {
  readonly #parts: LimitedParts

  constructor(parts: LimitedParts) {
    this.#parts = parts
  }

  *choose(session: SqlSession, request: LeaseRequest, open: readonly RankedLane[], now: number): Steps<Chosen> {
    const named = new Map(request.jobs.map((each) => [each.job, each]))
    const running = yield* Running.read(session, this.#parts.lanes)
    const families = open.filter(({ of }) => of.grouped === 1)
    const { waiting, hasMore } = yield* this.#waitingGroups(session, families, running, named, request.limit)
    const rates = yield* readRates(session, scopesOf(request, open, waiting, named))
    const claim = new LoadedClaim({ request, open, running, rates, now })
    const roomy = open.filter((lane) => claim.hasRoom(lane))
    const plain = roomy.filter(({ of }) => of.grouped === 0)
    const places = plain.map(({ lane }) => ({ lane, grp: '' }))
    const jobs = yield* wait(session.dialect.firstReady(session, places, request.limit))
    for (const [index, { of }] of plain.entries()) claim.addPlain(of, jobs[index] ?? [])
    const groups: CandidateGroup[] = []
    for (const { lane, of } of roomy.filter(({ of }) => of.grouped === 1))
      groups.push(...(yield* this.#withJobs(session, of, waiting.get(lane) ?? [], request.limit)))
    claim.addGroups(groups)
    const turns = yield* this.#parts.groups.turnsOf(session, [...new Set(families.map(({ lane }) => lane))])
    return this.#chosen(session, { claim, picks: claim.pick(), groups, hasMore, turns, open }, request.limit, now)
  }

  #chosen(session: SqlSession, choice: Choice, limit: number, now: number): Chosen {
    const { claim, picks, groups } = choice
    const moreAt = picks.length < limit && mayGoOn(choice) ? now : null
    return {
      picks,
      isIdle: picks.length === 0 && claim.held.length === 0 && !groups.some(({ jobs }) => jobs.length === 0),
      nextTokenAt: earliest([claim.nextTokenAt, ...claim.held.map(({ until }) => until), moreAt]),
      settle: (claimed, at) => this.#settle(session, choice, claimed, at),
    }
  }

  *#settle(session: SqlSession, choice: Choice, claimed: ReadonlySet<string>, at: number): Steps<void> {
    const { claim, groups, open } = choice
    yield* writeRates(session, claim.ratesAfter([...claimed], at), at)
    if (groups.length === 0) return
    const { served, lastTurns } = turnsAfter(choice)
    yield* this.#parts.groups.serve(session, served, lastTurns)
    for (const { job, group, until } of claim.held) {
      const lanes = open.filter(({ of }) => of.grouped === 1 && of.job === job).map(({ lane }) => lane)
      yield* this.#parts.groups.hold(session, lanes, group, until)
    }
    const emptied = groups.filter(({ jobs }) => jobs.every(({ id }) => claimed.has(id)))
    yield* this.#parts.groups.drop(
      session,
      emptied.filter(({ mayHaveMore }) => !mayHaveMore),
    )
    yield* this.#parts.groups.dropEmpty(
      session,
      emptied.filter(({ mayHaveMore }) => mayHaveMore),
    )
  }

  /** Groups that may be next: those without running jobs, in order of their turns, and those with running jobs. */
  *#waitingGroups(
    session: SqlSession,
    families: readonly RankedLane[],
    running: Running,
    named: Named,
    limit: number,
  ): Steps<{ readonly waiting: ReadonlyMap<number, readonly GroupRow[]>; readonly hasMore: boolean }> {
    const waiting = new Map<number, readonly GroupRow[]>()
    let hasMore = false
    for (const { lane, of } of families) {
      const busy = running.groupsOf(of.job)
      const concurrency = named.get(of.job)?.group?.concurrency ?? Number.POSITIVE_INFINITY
      const most = limit + busy.length
      const first = yield* wait(this.#parts.groups.first(session, lane, most))
      hasMore ||= first.length === most
      const others = busy.filter((group) => !first.some(({ grp }) => grp === group))
      const rest = others.length === 0 ? [] : yield* wait(this.#parts.groups.named(session, lane, others))
      const free = [...first, ...rest].filter(({ grp }) => running.inGroup(of.job, grp) < concurrency)
      waiting.set(lane, free)
    }
    return { waiting, hasMore }
  }

  *#withJobs(
    session: SqlSession,
    of: RankedLane['of'],
    groups: readonly GroupRow[],
    limit: number,
  ): Steps<readonly CandidateGroup[]> {
    const each = Math.max(leastOfGroup, Math.ceil((2 * limit) / Math.max(groups.length, 1)))
    // Reading one more than may be taken tells whether any is left.
    const most = Math.min(each, limit) + 1
    const read = yield* wait(session.dialect.firstReady(session, groups, most))
    return groups.map((group, index) => {
      const jobs = read[index] ?? []
      return { ...group, of, jobs, mayHaveMore: jobs.length === most }
    })
  }
}

interface Choice {
  readonly claim: LoadedClaim
  readonly picks: readonly Picked[]
  readonly groups: readonly CandidateGroup[]
  /** Whether there may be groups that were not read. */
  readonly hasMore: boolean
  /** The last turn of each lane with groups. */
  readonly turns: ReadonlyMap<number, number>
  readonly open: readonly RankedLane[]
}

/** Groups that were served take the next turns, in that order. */
function turnsAfter({ picks, turns, claim }: Choice): {
  readonly served: readonly GroupRow[]
  /** The lanes whose last turn must be stored, because the waiting groups alone may no longer tell it. */
  readonly lastTurns: ReadonlyMap<number, number>
} {
  const served = new Map<CandidateGroup, GroupRow>()
  const last = new Map(turns)
  for (const { group } of picks) {
    if (group === null) continue
    const turn = (last.get(group.lane) ?? 0) + 1
    last.set(group.lane, turn)
    served.set(group, { ...group, turn })
  }
  const isOther = (lane: number, turn: number) => turn !== turns.get(lane) || claim.held.length > 0
  return { served: [...served.values()], lastTurns: new Map([...last].filter(([lane, turn]) => isOther(lane, turn))) }
}

/** Whether groups that were not read may be next, or everything that was read from a group was taken, and it may have more. */
function mayGoOn({ claim, groups, hasMore, picks }: Choice): boolean {
  if (hasMore && claim.held.length > 0) return true
  const picked = new Set(picks.map(({ id }) => id))
  return groups.some(({ jobs, mayHaveMore }) => mayHaveMore && jobs.every(({ id }) => picked.has(id)))
}

/** The rates that may apply to these lanes and groups. */
function scopesOf(
  { queueLimits = [] }: LeaseRequest,
  open: readonly RankedLane[],
  waiting: ReadonlyMap<number, readonly GroupRow[]>,
  named: Named,
): readonly string[] {
  const scopes = new Set(queueLimits.flatMap(({ queue, rate }) => (rate === null ? [] : [rateScope.queue(queue)])))
  for (const { of, lane } of open) {
    const { rate = null, group = null } = named.get(of.job) ?? {}
    if (rate !== null) scopes.add(rateScope.job(of.job))
    if (group?.rate == null) continue
    for (const { grp } of waiting.get(lane) ?? []) scopes.add(rateScope.group(of.job, grp))
  }
  return [...scopes]
}
