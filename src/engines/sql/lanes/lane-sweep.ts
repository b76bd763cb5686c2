import { type Steps, wait } from '../../../core/answer.ts'
import type { SqlSession } from '../session.ts'
import { knownForMs } from './known-lanes.ts'

/**
 * How long a lane must have been empty before it is deleted. By then every program that remembers it has looked it up again and
 * kept it, and every program that stored a job in it has committed that.
 */
export const emptyForMs = 12 * knownForMs
const lanesAtOnce = 1_000

interface SweptLane {
  readonly lane: number
  readonly empty_since: number | null
}

/**
 * Deletes lanes that no longer have jobs, because names come and go. Each step checks some lanes and the next step continues
 * after them, so that its cost does not grow with their number.
 */
export class LaneSweep {
  /** Returns those of these lanes that have counted jobs. */
  readonly #filled: (session: SqlSession, lanes: readonly number[]) => Steps<ReadonlySet<number>>
  #last = 0

  constructor(filled: (session: SqlSession, lanes: readonly number[]) => Steps<ReadonlySet<number>>) {
    this.#filled = filled
  }

  *step(session: SqlSession, now: number): Steps<void> {
    const next = `SELECT lane, empty_since FROM {lanes} WHERE lane > ? ORDER BY lane LIMIT ${lanesAtOnce}`
    const lanes = yield* wait(session.all<SweptLane>(next, [this.#last]))
    this.#last = lanes.length < lanesAtOnce ? 0 : (lanes.at(-1) as SweptLane).lane
    if (lanes.length === 0) return
    const filled = yield* this.#filled(session, numbersOf(lanes))
    const due = lanes.filter((lane) => (filled.has(lane.lane) ? lane.empty_since !== null : isDue(lane, now)))
    if (due.length > 0) yield* this.#change(session, numbersOf(due), filled, now)
  }

  /** Locked lanes are left for the next time. */
  *#change(session: SqlSession, numbers: readonly number[], filled: ReadonlySet<number>, now: number): Steps<void> {
    const locked = 'SELECT lane, empty_since FROM {lanes} WHERE lane IN (?) ORDER BY lane FOR UPDATE SKIP LOCKED'
    const lanes = yield* wait(session.all<SweptLane>(locked, [numbers]))
    const empty = lanes.filter(({ lane }) => !filled.has(lane))
    yield* this.#mark(
      session,
      null,
      lanes.filter(({ lane }) => filled.has(lane)),
    )
    yield* this.#mark(
      session,
      now,
      empty.filter(({ empty_since }) => empty_since === null || empty_since > now),
    )
    yield* this.#forget(session, numbersOf(empty.filter((lane) => isOver(lane, now))))
  }

  *#mark(session: SqlSession, since: number | null, lanes: readonly SweptLane[]): Steps<void> {
    if (lanes.length === 0) return
    yield* wait(session.run('UPDATE {lanes} SET empty_since = ? WHERE lane IN (?)', [since, numbersOf(lanes)]))
  }

  *#forget(session: SqlSession, lanes: readonly number[]): Steps<void> {
    if (lanes.length === 0) return
    yield* wait(session.run('DELETE FROM {groups} WHERE lane IN (?)', [lanes]))
    if (session.dialect.isAlone === true) yield* wait(session.run('DELETE FROM {counts} WHERE lane IN (?)', [lanes]))
    yield* wait(session.run('DELETE FROM {lanes} WHERE lane IN (?)', [lanes]))
  }
}

function numbersOf(lanes: readonly SweptLane[]): readonly number[] {
  return lanes.map(({ lane }) => lane)
}

/** Whether an empty lane needs a change. A lane that was marked by a clock that was ahead is marked again. */
function isDue(lane: SweptLane, now: number): boolean {
  return lane.empty_since === null || lane.empty_since > now || isOver(lane, now)
}

function isOver({ empty_since }: SweptLane, now: number): boolean {
  return empty_since !== null && empty_since < now - emptyForMs
}
