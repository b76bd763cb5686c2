import { type Steps, wait } from '../../core/answer.ts'
import type { Settlement, SettleReceipt } from '../../queue/contract/contract.ts'
import type { QueueTime } from '../servers/queue-time.ts'
import { type Counts, lanesIn } from './lanes/counts.ts'
import { endsPlainly } from './lanes/lane-numbers.ts'
import type { Lanes } from './lanes/lanes.ts'
import { handling, heldAlone } from './rows/handling.ts'
import { claimOf, readToken, type Token } from './rows/lease-token.ts'
import { isRunning } from './rows/tables.ts'
import type { SqlDatabase, SqlSession } from './session.ts'
import type { Shortcuts } from './shortcuts.ts'
import { UnconfirmedSettlements } from './unconfirmed-settlements.ts'
import type { LoadedQueue } from './units/loaded/loaded-queue.ts'
import { NewLanes } from './units/loaded/new-lanes.ts'
import type { Units } from './units/units.ts'

export interface SettlingParts {
  readonly database: SqlDatabase
  readonly units: Units
  readonly lanes: Lanes
  readonly counts: Counts
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
  readonly #unconfirmed = new UnconfirmedSettlements()

  constructor(parts: SettlingParts) {
    this.#parts = parts
  }

  settle(settlements: readonly Settlement[], time: QueueTime): Steps<Settled> {
    return this.#unconfirmed.around(settlements, () => this.#settle(settlements, time))
  }

  *#settle(settlements: readonly Settlement[], time: QueueTime): Steps<Settled> {
    const receipts = new Array<SettleReceipt>(settlements.length).fill('lost')
    const tokens = settlements.map(({ token }) => readToken(token))
    const left = yield* this.#succeedPlainly(settlements, tokens, receipts, time)
    if (left.length === 0) return { receipts, released: false }
    const given = left.map((index) => this.#due(settlements[index] as Settlement, time))
    const lanes = yield* this.#lanesOf(given, left, tokens)
    const ids = left.map((index) => (tokens[index] as Token).id)
    const rule = (queue: LoadedQueue) =>
      given.map((settlement, at) => {
        const { receipt } = queue.rules.leases.settle(settlement, queue.now)
        const token = tokens[left[at] as number] as Token
        return receipt === 'lost' ? this.#unconfirmed.receiptFor(settlement, token, queue.rows.job(token.id)) : receipt
      })
    const { answer, released } = yield* this.#parts.units.run(ids, time, rule, lanes)
    for (const [at, index] of left.entries()) receipts[index] = answer[at] as SettleReceipt
    return { receipts, released }
  }

  #due(settlement: Settlement, time: QueueTime): Settlement {
    if (settlement.kind !== 'again') return settlement
    const { envelope } = settlement
    return { ...settlement, envelope: { ...envelope, runAt: time.dueAt(envelope.runAt) } }
  }

  /** The lanes of jobs that are to run again with another envelope. */
  *#lanesOf(given: readonly Settlement[], left: readonly number[], tokens: readonly (Token | undefined)[]): Steps<NewLanes> {
    const { database, lanes } = this.#parts
    const found = new NewLanes(lanes)
    for (const [at, settlement] of given.entries()) {
      if (settlement.kind !== 'again') continue
      const [held] = yield* lanes.numbered(database, [(tokens[left[at] as number] as Token).lane])
      // The lane of a job in a group does not say whether the job is an occurrence.
      const kinds = held?.grouped === 1 ? [false, true] : [held?.recurring === 1]
      for (const isRecurring of kinds) yield* found.prepare([settlement.envelope], isRecurring)
    }
    return found
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
      if (isFirst && isPlain(settlements[index] as Settlement) && endsPlainly(lanes.find(lane))) plain.set(id, index)
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

/** Records that the handlers of these leases are about to be called. */
export function beginLeases(session: SqlSession, tokens: readonly string[]): Steps<readonly SettleReceipt[]> {
  return changeLeases(session, tokens, 'begun = ?', () => handling.begunForGood)
}

/** `until` is asked when the leases are locked. */
export function extendLeases(
  session: SqlSession,
  tokens: readonly string[],
  until: () => number,
  { alone = false }: { readonly alone?: boolean | undefined },
): Steps<readonly SettleReceipt[]> {
  return changeLeases(session, tokens, alone ? `lease_until = ?, ${heldAlone}` : 'lease_until = ?', until)
}

function* changeLeases(
  session: SqlSession,
  tokens: readonly string[],
  assignment: string,
  value: () => number,
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
  if (kept.length > 0) yield* wait(session.run(`UPDATE {jobs by PRIMARY} SET ${assignment} WHERE id IN (?)`, [value(), kept]))
  return mine.map((isMine) => (isMine ? 'applied' : 'lost'))
}
