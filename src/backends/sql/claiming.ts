import type { LeaseRequest } from '../contract.ts'
import { handlingOf } from '../handling.ts'
import { CountChanges, type Counts } from './counts.ts'
import { FirstSight } from './first-sight.ts'
import type { Groups } from './groups.ts'
import { heldKeyOf } from './job-row.ts'
import type { Lanes } from './lanes.ts'
import { LimitedClaiming } from './limited-claiming.ts'
import { earliest, isOverdue, nextAtOf, type Outlook, readOutlook } from './outlook.ts'
import type { Promoting } from './promoting.ts'
import type { QueueTime } from './queue-time.ts'
import { inOrder, isLimited, type RankedLane, wantedLanes } from './ranked-lanes.ts'
import type { Rates } from './rates.ts'
import type { Rescuing } from './rescuing.ts'
import type { SqlDatabase, SqlSession } from './session.ts'
import { type ClaimedRow, claimedColumns, type Shortcuts } from './shortcuts.ts'
import { isReady, stateNumber } from './tables.ts'
import { lockMutex } from './transactions.ts'

export interface ClaimingParts {
  readonly database: SqlDatabase
  readonly shortcuts: Shortcuts
  readonly lanes: Lanes
  readonly counts: Counts
  readonly groups: Groups
  readonly rates: Rates
  readonly promoting: Promoting
  readonly rescuing: Rescuing
  /** Ends jobs that have waited for others for too long. */
  readonly giveUp: (time: QueueTime) => Promise<void>
}

export interface Claimed {
  readonly rows: readonly ClaimedRow[]
  readonly nextAt: number | null
  readonly cancelled: readonly string[]
}

/** Rounds of promoting before a claim takes what there is; more is there for the next one. */
const mostPromotionRounds = 20
/** So often a claim looks again where others were at the same jobs. */
const mostContendedRounds = 4

/** Finds the best ready jobs and gives them to an owner. */
export class Claiming {
  readonly #parts: ClaimingParts
  readonly #limited: LimitedClaiming
  readonly #sight: FirstSight

  constructor(parts: ClaimingParts) {
    this.#parts = parts
    this.#limited = new LimitedClaiming(parts)
    this.#sight = new FirstSight(parts)
  }

  async lease(request: LeaseRequest, claim: string, time: QueueTime): Promise<Claimed> {
    const atSight = await this.#sight.claim(request, claim, time)
    // What else there is, and what it should know, its owner hears when it asks again.
    if (atSight.length > 0) return this.#found({ rows: atSight, nextAt: time.now(), cancelled: [] })
    const outlook = await this.#outlook(request, time)
    const { rows, nextTokenAt } = await this.#claim(request, await this.#open(request, outlook), claim, time)
    const expiresAt = earliest(rows.map((row) => row.lease_until))
    return this.#found({ rows, nextAt: earliest([nextAtOf(outlook), expiresAt, nextTokenAt]), cancelled: outlook.cancelled })
  }

  /** Something may have become ready. */
  woken(): void {
    this.#sight.woken()
  }

  #found(claimed: Claimed): Claimed {
    this.#sight.found(claimed.rows.length)
    return claimed
  }

  /** After everything was done whose time has come. */
  async #outlook(request: LeaseRequest, time: QueueTime): Promise<Outlook> {
    const { database, groups, promoting, rescuing, giveUp } = this.#parts
    const outlook = await readOutlook(database, request.owner)
    const now = time.now()
    if (!isOverdue(outlook, now)) return outlook
    const isOver = (at: number | null) => at !== null && at <= now
    if (isOver(outlook.expiresAt)) await rescuing.reap(request.maxRescues, [], time)
    if (isOver(outlook.givesUpAt)) await giveUp(time)
    if (isOver(outlook.heldUntil)) await groups.release(database, time.now())
    for (let round = 0; isOver(outlook.dueAt) && round < mostPromotionRounds; round++) if (await promoting.promote(time)) break
    return readOutlook(database, request.owner)
  }

  /** The lanes with ready jobs that this request may claim from, in their order. */
  async #open(request: LeaseRequest, { readyLanes, pausedQueues }: Outlook): Promise<readonly RankedLane[]> {
    if (request.limit === 0 || readyLanes.length === 0) return []
    const lanes = await this.#parts.lanes.numbered(this.#parts.database, readyLanes)
    return wantedLanes(
      request,
      lanes.filter(({ queue }) => !pausedQueues.has(queue)),
    )
  }

  #claim(request: LeaseRequest, open: readonly RankedLane[], claim: string, time: QueueTime): Promise<Part> {
    if (open.length === 0) return Promise.resolve({ rows: [], nextTokenAt: null })
    return isLimited(request, open)
      ? this.#claimLimited(request, open, claim, time)
      : this.#claimPlainly(request, open, claim, time)
  }

  async #claimPlainly(request: LeaseRequest, open: readonly RankedLane[], claim: string, time: QueueTime): Promise<Part> {
    const { database, shortcuts } = this.#parts
    const { owner, leaseMs } = request
    const begun = handlingOf(request)
    const rows: ClaimedRow[] = []
    for (let round = 0; round < mostContendedRounds && rows.length < request.limit; round++) {
      const limit = request.limit - rows.length
      const part = await shortcuts.claim(database, { lanes: open, limit, claim, owner, time, leaseMs, begun })
      rows.push(...part.rows)
      if (!part.isContended) break
    }
    if (rows.length > 0) this.#parts.counts.noteEntries(2)
    return { rows: inOrder(rows, open), nextTokenAt: null }
  }

  #claimLimited(request: LeaseRequest, open: readonly RankedLane[], claim: string, time: QueueTime): Promise<Part> {
    return this.#parts.database.transaction(async (session) => {
      await lockMutex(session, 'claims')
      const chosen = await this.#limited.choose(session, request, open, time.now())
      const ids = chosen.picks.map(({ id }) => id)
      const { rows: taken, now } = await this.#take(session, ids, request, claim, time)
      const byId = new Map(taken.map((row) => [row.id, row]))
      await chosen.settle(new Set(byId.keys()), now)
      return { rows: ids.flatMap((id) => byId.get(id) ?? []), nextTokenAt: chosen.nextTokenAt }
    })
  }

  /** Those of these jobs that are still ready and that nobody else is at. */
  async #take(
    session: SqlSession,
    ids: readonly string[],
    request: LeaseRequest,
    claim: string,
    time: QueueTime,
  ): Promise<{ readonly rows: readonly ClaimedRow[]; readonly now: number }> {
    if (ids.length === 0) return { rows: [], now: time.now() }
    const rows = await session.all<ClaimedRow>(
      `SELECT ${claimedColumns.join(', ')} FROM {jobs by PRIMARY} WHERE id IN (?) AND ${isReady} ORDER BY id FOR UPDATE SKIP LOCKED`,
      [[...ids].sort()],
    )
    const now = time.now()
    if (rows.length === 0) return { rows, now }
    const lease_until = now + request.leaseMs
    const started = { state: stateNumber.running, started_at: now }
    const keys = rows.map(({ id, unique_key, unique_until }) => ({
      id,
      held_key: heldKeyOf({ ...started, unique_key, unique_until }),
    }))
    await session.run(
      `UPDATE {jobs by PRIMARY} SET state = 3, token = ?, owner = ?, lease_until = ?, started_at = ?, begun = ?, attempts = attempts + 1 WHERE id IN (?)`,
      [claim, request.owner, lease_until, now, handlingOf(request), rows.map(({ id }) => id)],
    )
    if (rows.some(({ unique_key }) => unique_key !== null)) await session.update('jobs', ['id'], ['held_key'], keys)
    const changes = new CountChanges()
    for (const { lane } of rows) changes.move(lane, stateNumber.ready, stateNumber.running)
    await changes.write(session, this.#parts.counts)
    return { rows: rows.map((row) => ({ ...row, attempts: row.attempts + 1, lease_until })), now }
  }
}

interface Part {
  readonly rows: readonly ClaimedRow[]
  readonly nextTokenAt: number | null
}
