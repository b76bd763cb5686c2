import type { LeaseRequest } from '../contract.ts'
import type { JobLimits, Rate } from '../limits.ts'
import { rateScope } from '../rate-scope.ts'
import { Slots } from '../slots.ts'
import type { GroupRow, Groups } from './groups.ts'
import type { Lanes } from './lanes.ts'
import { earliest } from './outlook.ts'
import { type GroupedCandidates, type LaneCandidates, type Picked, Picking } from './picking.ts'
import type { RankedLane } from './ranked-lanes.ts'
import type { Rates } from './rates.ts'
import { Running } from './running.ts'
import type { SqlSession } from './session.ts'

export interface LimitedParts {
  readonly lanes: Lanes
  readonly groups: Groups
  readonly rates: Rates
}

/** Of each group at least so many jobs are read. */
const leastOfGroup = 4

export interface Chosen {
  readonly picks: readonly Picked[]
  /** When the first rate that held something back gives way. */
  readonly nextTokenAt: number | null
  /** Writes down what was taken and when, for the jobs that were really claimed. */
  settle(claimed: ReadonlySet<string>, at: number): Promise<void>
}

/** Chooses jobs below limits, groups and rates, in a transaction that is alone in this. */
export class LimitedClaiming {
  readonly #parts: LimitedParts

  constructor(parts: LimitedParts) {
    this.#parts = parts
  }

  async choose(session: SqlSession, request: LeaseRequest, open: readonly RankedLane[], now: number): Promise<Chosen> {
    const { lanes, groups } = this.#parts
    const limits = new Map(request.jobs.map(({ job, ...rest }) => [job, rest]))
    const running = await Running.read(session, lanes)
    const plain = open.filter(({ of }) => of.grouped === 0)
    const families = open.filter(({ of }) => of.grouped === 1)
    const waiting = await this.#waitingGroups(session, families, running, limits, request.limit)
    const rateLogs = await this.#parts.rates.read(session, scopesOf(request, open, waiting, limits))
    const tokens = (scope: string, rate: Rate) => rateLogs.tokens(scope, rate, now)
    const slots = new Slots(
      { jobs: limits, queues: request.queueLimits ?? [], running, tokens },
      open.map(({ of }) => of),
    )
    const turns = await groups.turnsOf(session, families.length === 0 ? [] : families.map(({ lane }) => lane))
    const picking = new Picking({ slots, running, rateLogs, limits, turns, now })
    const candidates = await this.#candidates(
      session,
      plain.filter(({ of }) => slots.free(of) > 0),
      request.limit,
    )
    const grouped = await this.#groupedCandidates(
      session,
      families.filter(({ of }) => slots.free(of) > 0),
      waiting,
      request.limit,
    )
    const picks = picking.pick(candidates, grouped, request.limit)
    return this.#chosen(session, { picks, picking, slots, grouped, open })
  }

  #chosen(session: SqlSession, choice: Choice): Chosen {
    const { picks, picking, slots } = choice
    const exhausted = slots.tokens.filter(({ left }) => left <= 0).map(({ nextAt }) => nextAt)
    return {
      picks,
      nextTokenAt: earliest([...exhausted, ...picking.held.values()]),
      settle: async (claimed, at) => {
        const taken = [...slots.tokens, ...picking.tokens].filter(({ isTaken }) => isTaken)
        await this.#parts.rates.write(session, taken, at)
        await this.#settleGroups(session, choice, claimed)
      },
    }
  }

  async #settleGroups(
    session: SqlSession,
    { picks, picking, grouped, open }: Choice,
    claimed: ReadonlySet<string>,
  ): Promise<void> {
    const { groups } = this.#parts
    if (grouped.length === 0) return
    await groups.serve(session, picking.served, picking.lastTurns)
    for (const [key, until] of picking.held) {
      const lanes = open.filter(({ of }) => of.grouped === 1 && key.startsWith(`${of.job}\n`))
      await groups.hold(
        session,
        lanes.map(({ lane }) => lane),
        key.slice(key.indexOf('\n') + 1),
        until,
      )
    }
    await groups.drop(session, emptied(grouped, picks, claimed))
  }

  /** Groups that may be next: those that nothing of runs, in the order of their turns, and those that something of runs. */
  async #waitingGroups(
    session: SqlSession,
    families: readonly RankedLane[],
    running: Running,
    limits: ReadonlyMap<string, JobLimits>,
    limit: number,
  ): Promise<ReadonlyMap<number, readonly GroupRow[]>> {
    const byLane = new Map<number, readonly GroupRow[]>()
    for (const { lane, of } of families) {
      const busy = running.groupsOf(of.job)
      const concurrency = limits.get(of.job)?.group?.concurrency ?? Number.POSITIVE_INFINITY
      const first = await this.#parts.groups.first(session, lane, limit + busy.length)
      const others = busy.filter((group) => !first.some(({ grp }) => grp === group))
      const named = others.length === 0 ? [] : await this.#parts.groups.named(session, lane, others)
      const free = [...first, ...named].filter(({ grp }) => running.runningInGroup(of.job, grp) < concurrency)
      byLane.set(lane, free)
    }
    return byLane
  }

  async #candidates(session: SqlSession, lanes: readonly RankedLane[], limit: number): Promise<readonly LaneCandidates[]> {
    const jobs = await session.dialect.firstReady(
      session,
      lanes.map(({ lane }) => ({ lane, grp: '' })),
      limit,
    )
    return lanes.map(({ of, level, headStartMs }, index) => ({ lane: of, level, headStartMs, jobs: jobs[index] ?? [] }))
  }

  async #groupedCandidates(
    session: SqlSession,
    families: readonly RankedLane[],
    waiting: ReadonlyMap<number, readonly GroupRow[]>,
    limit: number,
  ): Promise<readonly GroupedCandidates[]> {
    const found: GroupedCandidates[] = []
    for (const { of, lane, level, headStartMs } of families) {
      const groups = waiting.get(lane) ?? []
      const each = Math.max(leastOfGroup, Math.ceil((2 * limit) / Math.max(groups.length, 1)))
      const most = Math.min(each, limit)
      const read = await session.dialect.firstReady(session, groups, most)
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

/** Groups of which all ready jobs were read, and none is left. */
function emptied(
  grouped: readonly GroupedCandidates[],
  picks: readonly Picked[],
  claimed: ReadonlySet<string>,
): readonly GroupRow[] {
  const taken = new Set(picks.filter(({ id }) => claimed.has(id)).map(({ id }) => id))
  return grouped.flatMap(({ groups }) =>
    groups.filter(({ jobs, mayHaveMore }) => !mayHaveMore && jobs.every(({ id }) => taken.has(id))),
  )
}

/** The rates that a choice among these lanes and groups may meet. */
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
