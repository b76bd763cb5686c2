import { type Steps, wait } from '../../../core/answer.ts'
import type { Envelope } from '../../../envelope/envelope.ts'
import { heldAlone } from '../../../queue/claiming/handling.ts'
import type { Settlement, SettleReceipt } from '../../../queue/contract/contract.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import type { OnceMarks } from '../keys/once-marks.ts'
import { type Counts, lanesIn } from '../lanes/counts.ts'
import type { Lane, Lanes } from '../lanes/lanes.ts'
import { type JobChange, type JobRow, stateAfter, unleased, unresulted, withError } from '../rows/job-row.ts'
import { claimOf, readToken, type Token } from '../rows/lease-token.ts'
import type { LoadedJobs } from '../rows/loaded-jobs.ts'
import { isRunning, stateNumber } from '../rows/tables.ts'
import type { SqlDatabase, SqlSession } from '../session.ts'
import type { Shortcuts } from '../shortcuts.ts'
import type { Transactions } from '../transactions/transactions.ts'
import { UnconfirmedSettlements } from './unconfirmed-settlements.ts'

type Again = Extract<Settlement, { readonly kind: 'again' }>

/** With the lane for a job that is to run again. */
export type PlacedSettlement = Exclude<Settlement, Again> | (Again & { readonly lane: Lane })

/** The part of workflows that takes part in ending a lease. */
export interface LinkedSettling {
  settle(hand: LoadedJobs, row: JobRow, settlement: PlacedSettlement): Steps<SettleReceipt>
}

export interface SettlingParts {
  readonly database: SqlDatabase
  readonly transactions: Transactions
  readonly lanes: Lanes
  readonly counts: Counts
  readonly onceMarks: OnceMarks
  readonly linked: LinkedSettling
  readonly shortcuts: Shortcuts
}

export interface Settled {
  readonly receipts: readonly SettleReceipt[]
  /** Whether a job that waited for one of these has become ready. */
  readonly released: boolean
}

/** Ends leases as their owners report. */
export class Settling {
  readonly #parts: SettlingParts
  readonly #doubts = new UnconfirmedSettlements()

  constructor(parts: SettlingParts) {
    this.#parts = parts
  }

  settle(settlements: readonly Settlement[], time: QueueTime): Steps<Settled> {
    return this.#doubts.around(settlements, () => this.#settle(settlements, time))
  }

  *#settle(settlements: readonly Settlement[], time: QueueTime): Steps<Settled> {
    const receipts = new Array<SettleReceipt>(settlements.length).fill('lost')
    const tokens = settlements.map(({ token }) => readToken(token))
    const left = yield* this.#succeedPlainly(settlements, tokens, receipts, time)
    if (left.length === 0) return { receipts, released: false }
    const placed = new Map<number, PlacedSettlement>()
    for (const index of left)
      placed.set(index, yield* this.#placed(settlements[index] as Settlement, tokens[index] as Token, time))
    const ids = left.map((index) => (tokens[index] as Token).id)
    const hand = yield* this.#parts.transactions.withJobs(ids, time, (hand) => this.#settleAll(hand, tokens, placed, receipts))
    return { receipts, released: hand.hasReleased }
  }

  *#settleAll(
    hand: LoadedJobs,
    tokens: readonly (Token | undefined)[],
    placed: ReadonlyMap<number, PlacedSettlement>,
    receipts: SettleReceipt[],
  ): Steps<LoadedJobs> {
    for (const [index, settlement] of placed) receipts[index] = yield* this.#settleOne(hand, tokens[index] as Token, settlement)
    return hand
  }

  /** A job stays an occurrence of a schedule, or stays none, however else its lane changes. */
  *#placed(settlement: Settlement, token: Token, time: QueueTime): Steps<PlacedSettlement> {
    if (settlement.kind !== 'again') return settlement
    const { lanes } = this.#parts
    const [held] = yield* lanes.numbered(this.#parts.database, [token.lane])
    const [lane] = yield* lanes.of([settlement.envelope], held?.recurring === 1)
    const { envelope } = settlement
    return { ...settlement, envelope: { ...envelope, runAt: time.dueAt(envelope.runAt) }, lane: lane as Lane }
  }

  *#settleOne(hand: LoadedJobs, token: Token, settlement: PlacedSettlement): Steps<SettleReceipt> {
    const row = hand.get(token.id)
    if (row === undefined || row.state !== stateNumber.running || claimOf(row.token) !== token.claim) {
      return this.#doubts.receiptFor(settlement, token, row)
    }
    if (row.linked === 1) return yield* this.#parts.linked.settle(hand, row, settlement)
    if (settlement.kind === 'done') yield* this.#parts.onceMarks.keep(hand.session, settlement.once, settlement.result, hand.now)
    const isAsked = row.cancel === 1 && comesBack(settlement)
    const change = changeFor(row, settlement, hand.now)
    hand.change(row.id, isAsked ? { ...change, ...stoppedAt(row, hand.now) } : change)
    if ('keep' in settlement && !settlement.keep) hand.remove(row.id)
    return isAsked ? 'cancelled' : 'applied'
  }

  /**
   * Most jobs succeed, are kept, and nothing depends on them: one statement for all of these. Returns the indexes of the rest.
   */
  *#succeedPlainly(
    settlements: readonly Settlement[],
    tokens: readonly (Token | undefined)[],
    receipts: SettleReceipt[],
    time: QueueTime,
  ): Steps<readonly number[]> {
    const { database, lanes, counts, shortcuts } = this.#parts
    const read = settlements.flatMap((_, index) => (tokens[index] === undefined ? [] : [index]))
    const plain = new Map<string, number>()
    const seen = new Set<string>()
    for (const index of read) {
      const { id, lane } = tokens[index] as Token
      // If a lease is settled several times, the first settlement counts.
      const isFirst = !seen.has(id)
      if (isFirst && isPlain(settlements[index] as Settlement) && lanes.find(lane)?.recurring === 0) plain.set(id, index)
      seen.add(id)
    }
    if (plain.size === 0) return read
    const done = [...plain.values()].map((index) => {
      const { result, seal = null } = settlements[index] as Extract<Settlement, { kind: 'done' }>
      return { ...(tokens[index] as Token), result, seal }
    })
    const ended = yield* wait(shortcuts.succeed(database, done, time))
    if (ended === null || ended.size > 0) counts.noteEntries(2 * lanesIn(done))
    for (const [id, index] of plain) if (ended === null || ended.has(id)) receipts[index] = 'applied'
    return read.filter((index) => receipts[index] !== 'applied')
  }
}

function isPlain(settlement: Settlement): boolean {
  return settlement.kind === 'done' && settlement.keep && settlement.once === undefined
}

function comesBack({ kind }: Settlement): boolean {
  return kind === 'retry' || kind === 'snooze' || kind === 'wait' || kind === 'again'
}

export function cancelledAt(now: number): JobChange {
  return { ...unleased, state: stateNumber.cancelled, finished_at: now }
}

/** For a job that would come back but was asked to stop. It keeps the time for which it was last due. */
export function stoppedAt({ run_at }: JobRow, now: number): JobChange {
  return { ...cancelledAt(now), run_at }
}

/** What a settlement does to a job without links. */
export function changeFor(row: JobRow, settlement: PlacedSettlement, now: number): JobChange {
  switch (settlement.kind) {
    case 'done':
      return {
        ...unleased,
        state: stateNumber.succeeded,
        finished_at: now,
        result: settlement.result,
        seal: settlement.seal ?? null,
      }
    case 'dead': {
      const errors = withError(row.errors, settlement.error)
      return { ...unleased, state: stateNumber.dead, finished_at: now, reason: settlement.reason, errors }
    }
    case 'cancelled':
      return { ...cancelledAt(now), ...unresulted }
    case 'skipped': {
      const { why: reason, result = null, seal = null } = settlement
      const attempts = row.attempts - 1
      return { ...unleased, state: stateNumber.skipped, finished_at: now, reason, result, seal, attempts }
    }
    case 'retry': {
      const { delayMs, error } = settlement
      return { ...unleased, state: stateAfter(delayMs), run_at: now + delayMs, errors: withError(row.errors, error) }
    }
    case 'snooze': {
      const { delayMs } = settlement
      const run_at = delayMs > 0 ? now + delayMs : row.run_at
      return { ...unleased, state: stateAfter(run_at - now), run_at, attempts: row.attempts - 1, begun: 0 }
    }
    case 'wait':
      return { ...unleased, state: stateAfter(row.run_at - now), attempts: row.attempts - 1 }
    case 'again':
      // A job that was asked to stop ends with its original contents.
      return row.cancel === 1 ? {} : againAs(settlement.envelope, settlement.lane, now)
  }
}

function againAs({ group, identity, payload, signature, runAt }: Envelope, { lane }: Lane, now: number): JobChange {
  const place = { lane, grp: group ?? '', state: stateAfter(runAt - now), run_at: runAt }
  const afresh = { attempts: 0, rescues: 0, begun: 0, ...unresulted, progress: null }
  return { ...unleased, ...place, ...afresh, identity, payload, signature }
}

/** Renews leases, or records that their handlers are about to be called. */
export function* touchLeases(
  session: SqlSession,
  tokens: readonly string[],
  change: () => Readonly<Record<'lease_until', number>> | Readonly<Record<'begun', number>>,
  alone = false,
): Steps<readonly SettleReceipt[]> {
  const read = tokens.map(readToken)
  const ids = read.flatMap((token) => token?.id ?? [])
  const held = yield* wait(
    session.all<{ id: string; token: string }>(
      `SELECT id, token FROM {jobs by PRIMARY} WHERE id IN (?) AND ${isRunning} ORDER BY id FOR UPDATE`,
      [ids],
    ),
  )
  const claims = new Map(held.map(({ id, token }) => [id, claimOf(token)]))
  const mine = read.map((token) => token !== undefined && claims.get(token.id) === token.claim)
  const kept = read.flatMap((token, index) => (mine[index] ? [(token as Token).id] : []))
  const [column, value] = Object.entries(change())[0] as [string, number]
  const also = alone ? `, ${heldAlone}` : ''
  if (kept.length > 0)
    yield* wait(session.run(`UPDATE {jobs by PRIMARY} SET ${column} = ?${also} WHERE id IN (?)`, [value, kept]))
  return mine.map((isMine) => (isMine ? 'applied' : 'lost'))
}
