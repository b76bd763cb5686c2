import { type Steps, wait } from '../../../core/answer.ts'
import type { LeaseRequest } from '../../../queue/contract/contract.ts'
import type { JobLimits, Rate } from '../../../queue/contract/limits.ts'
import { rateScope } from '../../../queue/limits/rate-scope.ts'
import { Slots } from '../../../queue/limits/slots.ts'
import type { Lanes } from '../lanes/lanes.ts'
import { earliest } from '../lanes/outlook.ts'
import type { RankedLane } from '../lanes/ranked-lanes.ts'
import type { SqlSession } from '../session.ts'
import type { GroupRow, Groups } from './groups.ts'
import { type GroupedCandidates, type LaneCandidates, type Picked, Picking } from './picking.ts'
import type { Rates } from './rates.ts'
import { Running } from './running.ts'

export interface LimitedParts {
  readonly lanes: Lanes
  readonly groups: Groups
  readonly rates: Rates
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

/** Chooses jobs under limits, groups and rates. Only one transaction does this at a time. */
export class LimitedClaiming {
  readonly #parts: LimitedParts

  constructor(parts: LimitedParts) {
    this.#parts = parts
  }

  *choose(session: SqlSession, request: LeaseRequest, open: readonly RankedLane[], now: number): Steps<Chosen> {
    const { lanes, groups } = this.#parts
    const limits = new Map(request.jobs.map(({ job, ...rest }) => [job, rest]))
    const running = yield* Running.read(session, lanes)
    const plain = open.filter(({ of }) => of.grouped === 0)
    const families = open.filter(({ of }) => of.grouped === 1)
    const waiting = yield* this.#waitingGroups(session, families, running, limits, request.limit)
    const rateLogs = yield* this.#parts.rates.read(session, scopesOf(request, open, waiting, limits))
    const tokens = (scope: string, rate: Rate) => rateLogs.tokens(scope, rate, now)
    const slots = new Slots(
      { jobs: limits, queues: request.queueLimits ?? [], running, tokens },
      open.map(({ of }) => of),
    )
    const turns = yield* groups.turnsOf(session, families.length === 0 ? [] : families.map(({ lane }) => lane))
    const picking = new Picking({ slots, running, rateLogs, limits, turns, now })
    const candidates = yield* this.#candidates(
      session,
      plain.filter(({ of }) => slots.free(of) > 0),
      request.limit,
    )
    const grouped = yield* this.#groupedCandidates(
      session,
      families.filter(({ of }) => slots.free(of) > 0),
      waiting,
      request.limit,
    )
    const picks = picking.pick(candidates, grouped, request.limit)
    const mayHaveMore = picks.length < request.limit && mayGoOn(grouped, picks)
    return this.#chosen(session, { picks, picking, slots, grouped, open }, mayHaveMore ? now : null)
  }

  #chosen(session: SqlSession, choice: Choice, moreAt: number | null): Chosen {
    const { picks, picking, slots, grouped } = choice
    const isAnyEmpty = grouped.some(({ groups }) => groups.some(({ jobs }) => jobs.length === 0))
    const exhausted = slots.tokens.filter(({ left }) => left <= 0).map(({ nextAt }) => nextAt)
    return {
      picks,
      isIdle: picks.length === 0 && picking.held.size === 0 && !isAnyEmpty,
      nextTokenAt: earliest([...exhausted, ...picking.held.values(), moreAt]),
      settle: (claimed, at) => this.#settle(session, choice, claimed, at),
    }
  }

  *#settle(session: SqlSession, choice: Choice, claimed: ReadonlySet<string>, at: number): Steps<void> {
    const taken = [...choice.slots.tokens, ...choice.picking.tokens].filter(({ isTaken }) => isTaken)
    yield* this.#parts.rates.write(session, taken, at)
    yield* this.#settleGroups(session, choice, claimed)
  }

  *#settleGroups(session: SqlSession, { picks, picking, grouped, open }: Choice, claimed: ReadonlySet<string>): Steps<void> {
    const { groups } = this.#parts
    if (grouped.length === 0) return
    yield* groups.serve(session, picking.served, picking.lastTurns)
    for (const [key, until] of picking.held) {
      const lanes = open.filter(({ of }) => of.grouped === 1 && key.startsWith(`${of.job}\n`))
      yield* groups.hold(
        session,
        lanes.map(({ lane }) => lane),
        key.slice(key.indexOf('\n') + 1),
        until,
      )
    }
    const { known, unknown } = emptied(grouped, picks, claimed)
    yield* groups.drop(session, known)
    yield* groups.dropEmpty(session, unknown)
  }

  /** Groups that may be next: those without running jobs, in order of their turns, and those with running jobs. */
  *#waitingGroups(
    session: SqlSession,
    families: readonly RankedLane[],
    running: Running,
    limits: ReadonlyMap<string, JobLimits>,
    limit: number,
  ): Steps<ReadonlyMap<number, readonly GroupRow[]>> {
    const byLane = new Map<number, readonly GroupRow[]>()
    for (const { lane, of } of families) {
      const busy = running.groupsOf(of.job)
      const concurrency = limits.get(of.job)?.group?.concurrency ?? Number.POSITIVE_INFINITY
      const first = yield* wait(this.#parts.groups.first(session, lane, limit + busy.length))
      const others = busy.filter((group) => !first.some(({ grp }) => grp === group))
      const named = others.length === 0 ? [] : yield* wait(this.#parts.groups.named(session, lane, others))
      const free = [...first, ...named].filter(({ grp }) => running.runningInGroup(of.job, grp) < concurrency)
      byLane.set(lane, free)
    }
    return byLane
  }

  *#candidates(session: SqlSession, lanes: readonly RankedLane[], limit: number): Steps<readonly LaneCandidates[]> {
    const jobs = yield* wait(
      session.dialect.firstReady(
        session,
        lanes.map(({ lane }) => ({ lane, grp: '' })),
        limit,
      ),
    )
    return lanes.map(({ of, level, headStartMs }, index) => ({ lane: of, level, headStartMs, jobs: jobs[index] ?? [] }))
  }

  *#groupedCandidates(
    session: SqlSession,
    families: readonly RankedLane[],
    waiting: ReadonlyMap<number, readonly GroupRow[]>,
    limit: number,
  ): Steps<readonly GroupedCandidates[]> {
    const found: GroupedCandidates[] = []
    for (const { of, lane, level, headStartMs } of families) {
      const groups = waiting.get(lane) ?? []
      const each = Math.max(leastOfGroup, Math.ceil((2 * limit) / Math.max(groups.length, 1)))
      // Reading one more than may be taken tells whether any is left.
      const most = Math.min(each, limit) + 1
      const read = yield* wait(session.dialect.firstReady(session, groups, most))
      const withJobs = groups.map((group, index) => ({
        ...group,
        jobs: read[index] ?? [],
        mayHaveMore: read[index]?.length === most,
      }))
      found.push({ lane: of, level, headStartMs, groups: withJobs })
    }
    return found
  }
}

interface Choice {
  readonly picks: readonly Picked[]
  readonly picking: Picking
  readonly slots: Slots
  readonly grouped: readonly GroupedCandidates[]
  readonly open: readonly RankedLane[]
}

/** Groups whose jobs were all taken as far as they were read: `known` have nothing left, `unknown` may have more. */
function emptied(
  grouped: readonly GroupedCandidates[],
  picks: readonly Picked[],
  claimed: ReadonlySet<string>,
): { readonly known: readonly GroupRow[]; readonly unknown: readonly GroupRow[] } {
  const taken = new Set(picks.filter(({ id }) => claimed.has(id)).map(({ id }) => id))
  const over = grouped.flatMap(({ groups }) => groups.filter(({ jobs }) => jobs.every(({ id }) => taken.has(id))))
  return { known: over.filter(({ mayHaveMore }) => !mayHaveMore), unknown: over.filter(({ mayHaveMore }) => mayHaveMore) }
}

/** Whether everything that was read from a group was taken, and the group may have more. */
function mayGoOn(grouped: readonly GroupedCandidates[], picks: readonly Picked[]): boolean {
  const picked = new Set(picks.map(({ id }) => id))
  return grouped.some(({ groups }) =>
    groups.some(({ jobs, mayHaveMore }) => mayHaveMore && jobs.every(({ id }) => picked.has(id))),
  )
}

/** The rates that may apply to these lanes and groups. */
function scopesOf(
  { queueLimits = [] }: LeaseRequest,
  open: readonly RankedLane[],
  waiting: ReadonlyMap<number, readonly GroupRow[]>,
  limits: ReadonlyMap<string, JobLimits>,
): readonly string[] {
  const scopes = new Set(queueLimits.flatMap(({ queue, rate }) => (rate === null ? [] : [rateScope.queue(queue)])))
  for (const { of, lane } of open) {
    const { rate = null, group = null } = limits.get(of.job) ?? {}
    if (rate !== null) scopes.add(rateScope.job(of.job))
    if (group?.rate == null) continue
    for (const { grp } of waiting.get(lane) ?? []) scopes.add(rateScope.group(of.job, grp))
  }
  return [...scopes]
}
