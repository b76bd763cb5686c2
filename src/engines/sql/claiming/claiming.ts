import { type Steps, wait } from '../../../core/answer.ts'
import type { LeaseRequest } from '../../../queue/contract/contract.ts'
import { earliest } from '../../../queue/time/earliest.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { type Counts, lanesIn } from '../lanes/counts.ts'
import { CrowdedLanes, type OpenCrowd } from '../lanes/crowded-lanes.ts'
import type { Lanes } from '../lanes/lanes.ts'
import { isOverdue, nextAtOf, type Outlook, readOutlook } from '../lanes/outlook.ts'
import { inOrder, isLimited, type RankedLane, wantedLanes } from '../lanes/ranked-lanes.ts'
import type { Groups } from '../limits/groups.ts'
import { type Chosen, LimitedClaiming } from '../limits/limited-claiming.ts'
import { takeReady } from '../portable-shortcuts.ts'
import { handlingOf } from '../rows/handling.ts'
import type { SqlDatabase, SqlSession } from '../session.ts'
import type { ClaimedRow, Shortcuts } from '../shortcuts.ts'
import { lockMutex } from '../transactions/mutexes.ts'
import { OptimisticClaim } from './optimistic-claim.ts'
import type { Promoting } from './promoting.ts'
import type { Rescuing } from './rescuing.ts'

export interface ClaimingParts {
  readonly database: SqlDatabase
  readonly shortcuts: Shortcuts
  readonly lanes: Lanes
  readonly counts: Counts
  readonly groups: Groups
  readonly promoting: Promoting
  readonly rescuing: Rescuing
  /** Ends jobs that have waited too long for others. */
  readonly giveUp: (time: QueueTime) => Steps<void>
}

export interface Claimed {
  readonly rows: readonly ClaimedRow[]
  readonly nextAt: number | null
  readonly cancelled: readonly string[]
}

/** Maximum number of promotion rounds before a claim takes what is ready; the next claim promotes the rest. */
const mostPromotionRounds = 20
/** How soon to look again if other workers were claiming the first jobs of very many lanes. */
const lookAgainMs = 10
/** How often a claim looks again if other workers are claiming the same jobs. */
const mostContendedRounds = 4

/** The lanes that a claim may take jobs from, and whether they hold everything that is ready for it. */
export interface OpenLanes {
  readonly lanes: readonly RankedLane[]
  readonly isAll: boolean
}

const noCrowd: OpenCrowd = { lanes: [], isAll: true }

/** Finds the best ready jobs and leases them to an owner. */
export class Claiming {
  readonly #parts: ClaimingParts
  readonly #limited: LimitedClaiming
  readonly #optimistic: OptimisticClaim
  readonly #crowd: CrowdedLanes
  /** Whether the last claim under limits got everything it asked for. */
  #hadMore = false

  constructor(parts: ClaimingParts) {
    this.#parts = parts
    this.#limited = new LimitedClaiming(parts)
    this.#optimistic = new OptimisticClaim(parts)
    this.#crowd = new CrowdedLanes(parts.database, parts.lanes)
  }

  *lease(request: LeaseRequest, claim: string, time: QueueTime): Steps<Claimed> {
    const optimistic = yield* this.#optimistic.claim(request, claim, time)
    // The owner asks again at once, and then learns what else is ready and what was cancelled.
    if (optimistic.length > 0) return this.#found({ rows: optimistic, nextAt: time.now(), cancelled: [] })
    const outlook = yield* this.#outlook(request, time)
    this.#optimistic.expect(nextAtOf(outlook))
    const { lanes, isAll } = yield* this.open(request, outlook)
    const { rows, nextTokenAt } = yield* this.#claim(request, lanes, claim, time)
    const expiresAt = earliest(rows.map((row) => row.lease_until))
    const moreAt = isAll || rows.length === request.limit ? null : time.now() + lookAgainMs
    return this.#found({
      rows,
      nextAt: earliest([nextAtOf(outlook), expiresAt, nextTokenAt, moreAt]),
      cancelled: outlook.cancelled,
    })
  }

  /** Call this when something may have become ready. */
  woken(): void {
    this.#optimistic.woken()
  }

  #found(claimed: Claimed): Claimed {
    this.#optimistic.found(claimed.rows.length)
    return claimed
  }

  /** Reads the outlook after doing everything that is overdue. */
  *#outlook(request: LeaseRequest, time: QueueTime): Steps<Outlook> {
    const { database, groups, promoting, rescuing, giveUp } = this.#parts
    const outlook = yield* readOutlook(database, request.owner)
    const now = time.now()
    if (!isOverdue(outlook, now)) return outlook
    const isOver = (at: number | null) => at !== null && at <= now
    if (isOver(outlook.expiresAt)) yield* rescuing.reap(request.maxRescues, [], time)
    if (isOver(outlook.givesUpAt)) yield* giveUp(time)
    if (isOver(outlook.heldUntil)) yield* groups.release(database, time.now())
    for (let round = 0; isOver(outlook.dueAt) && round < mostPromotionRounds; round++)
      if (yield* wait(promoting.promote(time))) break
    return yield* readOutlook(database, request.owner)
  }

  /** The lanes with ready jobs that this request may claim from, in order. */
  *open(request: LeaseRequest, { readyLanes, hasCrowd }: Outlook): Steps<OpenLanes> {
    if (request.limit === 0) return { lanes: [], isAll: true }
    const single = readyLanes.length === 0 ? [] : yield* this.#parts.lanes.numbered(this.#parts.database, readyLanes)
    const crowd = hasCrowd ? yield* this.#crowd.open(request) : noCrowd
    return { lanes: wantedLanes(request, hasCrowd ? [...single, ...crowd.lanes] : single), isAll: crowd.isAll }
  }

  *#claim(request: LeaseRequest, open: readonly RankedLane[], claim: string, time: QueueTime): Steps<Part> {
    if (open.length === 0) return { rows: [], nextTokenAt: null }
    if (!isLimited(request, open)) return yield* this.#claimPlainly(request, open, claim, time)
    const { database } = this.#parts
    // Where a transaction blocks all other writers, begin one only if there is something to claim.
    const mayBeIdle = database.dialect.isAlone === true && !this.#hadMore
    const look = mayBeIdle ? yield* this.#look(request, open, time) : null
    if (look?.isIdle === true) return { rows: [], nextTokenAt: look.nextTokenAt }
    const part = yield* wait(database.transaction((session) => this.#claimLimited(session, request, open, claim, time)))
    this.#hadMore = part.rows.length === request.limit
    return part
  }

  #look(request: LeaseRequest, open: readonly RankedLane[], time: QueueTime): Steps<Chosen> {
    return this.#limited.choose(this.#parts.database, { ...request, limit: 1 }, open, time.now())
  }

  *#claimPlainly(request: LeaseRequest, open: readonly RankedLane[], claim: string, time: QueueTime): Steps<Part> {
    const { database, shortcuts } = this.#parts
    const { owner, leaseMs } = request
    const begun = handlingOf(request)
    const rows: ClaimedRow[] = []
    for (let round = 0; round < mostContendedRounds && rows.length < request.limit; round++) {
      const limit = request.limit - rows.length
      const part = yield* wait(shortcuts.claim(database, { lanes: open, limit, claim, owner, time, leaseMs, begun }))
      rows.push(...part.rows)
      if (!part.isContended) break
    }
    if (rows.length > 0) this.#parts.counts.noteEntries(2 * lanesIn(rows))
    return { rows: inOrder(rows, open), nextTokenAt: null }
  }

  *#claimLimited(
    session: SqlSession,
    request: LeaseRequest,
    open: readonly RankedLane[],
    claim: string,
    time: QueueTime,
  ): Steps<Part> {
    yield* lockMutex(session, 'claims')
    const chosen = yield* this.#limited.choose(session, request, open, time.now())
    const ids = chosen.picks.map(({ id }) => id)
    const { owner, leaseMs } = request
    const taken = yield* takeReady(session, ids, { limit: ids.length, claim, owner, time, leaseMs, begun: handlingOf(request) })
    this.#parts.counts.noteEntries(2 * lanesIn(taken))
    const byId = new Map(taken.map((row) => [row.id, row]))
    const [first] = taken
    yield* chosen.settle(new Set(byId.keys()), first === undefined ? time.now() : first.lease_until - leaseMs)
    return { rows: ids.flatMap((id) => byId.get(id) ?? []), nextTokenAt: chosen.nextTokenAt }
  }
}

interface Part {
  readonly rows: readonly ClaimedRow[]
  readonly nextTokenAt: number | null
}
