import { type Answer, type Steps, wait } from '../../../core/answer.ts'
import { TreadleError } from '../../../core/errors.ts'
import { Missing } from '../../../queue/units/missing.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import type { Lanes } from '../lanes/lanes.ts'
import type { SqlDatabase, SqlSession } from '../session.ts'
import { lockMutex } from '../transactions/mutexes.ts'
import { LoadedQueue } from './loaded/loaded-queue.ts'
import { NewLanes } from './loaded/new-lanes.ts'
import { LinksMet, LoadedRows, type LoadedRowsParts, type SentJobs } from './reading/loaded-rows.ts'
import type { Need } from './reading/needs.ts'
import { type WritesParts, type Written, writeUnit } from './writing/writes.ts'

/** How often to start over because somebody else has stored the same job or unique key at the same moment. */
const mostConflicts = 20
/** Far more loads than any rule needs: one that exceeds this is broken. */
const mostLoads = 10_000

const noJobs: SentJobs = { ids: [], digests: [], areRead: false }

export type UnitsParts = LoadedRowsParts & WritesParts

/** Decides synchronously on what is loaded. It keeps nothing of an earlier attempt. */
export type Rule<Value> = (queue: LoadedQueue) => Value

export interface Ruled<Value> extends Written {
  readonly answer: Value
}

/** Runs the rules of the queue on stored rows, in transactions. */
export class Units {
  readonly #database: SqlDatabase
  readonly #parts: UnitsParts
  #expectsLinks = false

  constructor(database: SqlDatabase, parts: UnitsParts) {
    this.#database = database
    this.#parts = parts
  }

  /**
   * Locks these jobs, decides by a rule, and writes its changes. Only one transaction at a time changes jobs that are part of a
   * workflow.
   */
  *run<Value>(ids: readonly string[], time: QueueTime, rule: Rule<Value>, lanes?: NewLanes): Steps<Ruled<Value>> {
    let hasMetLinks = false
    const work = function* (unit: Unit): Steps<Ruled<Value>> {
      const ruled = yield* unit.decide(ids, rule, lanes)
      hasMetLinks = unit.hasMetLinks
      return ruled
    }
    const ruled = yield* this.within(time, work, { isAlone: this.#expectsLinks })
    if (ids.length > 0) this.#expectsLinks = hasMetLinks
    return ruled
  }

  /** A transaction that determines itself which jobs it needs. It starts over with the links mutex if it meets a workflow. */
  *within<Value>(time: QueueTime, work: (unit: Unit) => Steps<Value>, { isAlone }: { readonly isAlone: boolean }): Steps<Value> {
    try {
      return yield* wait(this.#transaction(time, isAlone || this.#database.dialect.isAlone === true, work))
    } catch (thrown) {
      if (!(thrown instanceof LinksMet)) throw thrown
    }
    return yield* wait(this.alone(time, work))
  }

  /** A transaction that holds the links mutex from its start and determines itself which jobs it needs. */
  alone<Value>(time: QueueTime, work: (unit: Unit) => Steps<Value>): Answer<Value> {
    return this.#transaction(time, true, work)
  }

  /** Answers by a rule that changes nothing, without a lock. */
  *read<Value>(time: QueueTime, rule: Rule<Value>): Steps<Value> {
    const rows = new LoadedRows(this.#database, this.#parts, { isAlone: true, isLocked: false })
    return (yield* decided(rows, this.#parts.lanes, time, rule)).answer
  }

  #transaction<Value>(time: QueueTime, isAlone: boolean, work: (unit: Unit) => Steps<Value>): Answer<Value> {
    const parts = this.#parts
    return this.#database.transaction(function* (session) {
      if (isAlone) yield* lockMutex(session, 'links')
      return yield* work(new Unit(session, time, parts, isAlone))
    })
  }
}

/** A transaction in which rules decide. */
export class Unit {
  readonly session: SqlSession
  readonly #time: QueueTime
  readonly #parts: UnitsParts
  readonly #isAlone: boolean
  hasMetLinks = false

  constructor(session: SqlSession, time: QueueTime, parts: UnitsParts, isAlone: boolean) {
    this.session = session
    this.#time = time
    this.#parts = parts
    this.#isAlone = isAlone
  }

  get now(): number {
    return this.#time.now()
  }

  /**
   * Runs a rule on what is loaded, and again from its start whenever it needs more. Then writes its changes. `sent` are jobs that
   * the rule may store: usually none of them is there.
   */
  *decide<Value>(
    ids: readonly string[],
    rule: Rule<Value>,
    lanes = new NewLanes(this.#parts.lanes),
    sent: SentJobs = noJobs,
  ): Steps<Ruled<Value>> {
    const rows = new LoadedRows(this.session, this.#parts, { isAlone: this.#isAlone, isLocked: true })
    yield* rows.lock(ids)
    for (let tries = 0; tries < mostConflicts; tries++) {
      yield* rows.expectNew(sent)
      const { queue, answer } = yield* decided(rows, this.#parts.lanes, this.#time, rule)
      const written = yield* writeUnit(queue, this.#parts, (envelope, isRecurring) => lanes.of(envelope, isRecurring), this.#time)
      this.hasMetLinks ||= rows.hasLinked
      if (written !== null) return { answer, ...written }
      rows.forgetAbsent()
    }
    throw new TreadleError(
      'DATABASE_BUSY',
      `Others have stored the same jobs, numbers or unique keys ${mostConflicts} times in a row, so nothing was stored. Try again.`,
    )
  }
}

function* decided<Value>(
  rows: LoadedRows,
  lanes: Lanes,
  time: QueueTime,
  rule: Rule<Value>,
): Steps<{ readonly queue: LoadedQueue; readonly answer: Value }> {
  for (let loads = 0; loads < mostLoads; loads++) {
    // The time at which the last locks were acquired.
    const queue = new LoadedQueue(rows, lanes, time.now())
    let missing: readonly Need[]
    try {
      return { queue, answer: rule(queue) }
    } catch (thrown) {
      if (!(thrown instanceof Missing)) throw thrown
      missing = thrown.needs
    }
    yield* rows.load(missing)
  }
  throw new TreadleError('DATABASE_FAILED', 'A call kept loading more of the queue without reaching an end')
}
