import { answerOf, type Steps, wait } from '../../../core/answer.ts'
import { TreadleError } from '../../../core/errors.ts'
import { pause, systemClock } from '../../../core/time/clock.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import type { SqlSession } from '../session.ts'
import { KnownLanes } from './known-lanes.ts'
import { type Lane, type LaneFields, type LaneKey, laneColumns, laneKey, nameless, numberOf, textOf } from './lane-numbers.ts'
import { lanesOfReady } from './lane-repair.ts'
import { LaneWriter } from './lane-writer.ts'

export type { Lane } from './lane-numbers.ts'

interface LaneRow extends Lane {
  readonly empty_since: number | null
}

/** How long to wait for a connection on which to create a lane. */
const patienceMs = 500

/**
 * The numbers of lanes. Nothing here reads all lanes, since there may be one for each name that jobs ever had. The lanes
 * remembered are bounded. Lanes are written in a transaction of their own, so that they persist whatever happens to the caller's
 * transaction.
 */
export class Lanes {
  readonly #session: SqlSession
  readonly #time: QueueTime
  readonly #writer: LaneWriter
  /** The queue's own lanes, if this object belongs to a caller's transaction; otherwise null. */
  readonly #lasting: Lanes | null
  readonly #known = new KnownLanes()
  #isMadeWithin = false
  #learning: Promise<unknown> | undefined

  constructor(session: SqlSession, time: QueueTime, lasting: Lanes | null = null) {
    this.#session = session
    this.#time = time
    this.#lasting = lasting
    this.#writer = new LaneWriter(session, time)
  }

  /**
   * For a caller's transaction. The caller may have the last connection of the pool, so this must not need another one. What it
   * sees may be rolled back, and is forgotten with the transaction.
   */
  within(session: SqlSession): Lanes {
    return new Lanes(session, this.#time, this)
  }

  /** The lanes of these envelopes, in order. Missing ones are created. */
  *of(envelopes: readonly LaneFields[], isRecurring = false): Steps<readonly Lane[]> {
    const known = this.#knownOf(envelopes, isRecurring)
    if (known !== null) return known
    const now = this.#time.now()
    const wanted = new Map(envelopes.map((envelope) => laneKey(envelope, isRecurring)).map((lane) => [textOf(lane), lane]))
    const unknown = [...wanted].filter(([text]) => this.#open(text, now) === undefined).map(([, key]) => key)
    const made = yield* this.#make(unknown)
    return envelopes.map((envelope) => {
      const text = textOf(laneKey(envelope, isRecurring))
      return made.get(text) ?? this.#open(text, now) ?? missing(text)
    })
  }

  /** Null if one of them has to be looked up. Most envelopes have the same lane as the one before. */
  #knownOf(envelopes: readonly LaneFields[], isRecurring: boolean): readonly Lane[] | null {
    const now = this.#time.now()
    const lanes: Lane[] = []
    let last: { readonly envelope: LaneFields; readonly lane: Lane } | undefined
    for (const envelope of envelopes) {
      if (last === undefined || !isSameLane(last.envelope, envelope)) {
        const lane = this.#open(textOf(laneKey(envelope, isRecurring)), now)
        if (lane === undefined) return null
        last = { envelope, lane }
      }
      lanes.push(last.lane)
    }
    return lanes
  }

  /**
   * The lanes with these numbers, in order. They are read in the transaction that needs them: waiting for a second connection
   * could take forever.
   */
  *numbered(session: SqlSession, numbers: readonly number[]): Steps<readonly Lane[]> {
    const lanes = yield* this.there(session, numbers)
    const missing = numbers.filter((_, index) => lanes[index] === undefined)
    if (missing.length === 0) return lanes as readonly Lane[]
    const repaired = yield* lanesOfReady(session, [...new Set(missing)])
    this.met(repaired)
    const byNumber = new Map(repaired.map((lane) => [lane.lane, lane]))
    return lanes.map((lane, index) => lane ?? byNumber.get(numbers[index] as number) ?? nameless(numbers[index] as number))
  }

  /** Like `numbered`, for callers that only read: missing lanes stay undefined. */
  *there(session: SqlSession, numbers: readonly number[]): Steps<readonly (Lane | undefined)[]> {
    const now = this.#time.now()
    const unknown = [...new Set(numbers)].filter((number) => this.#numbered(number, now) === undefined)
    if (unknown.length > 0) {
      const rows = yield* wait(
        session.all<LaneRow>(`SELECT ${laneColumns}, empty_since FROM {lanes} WHERE lane IN (?)`, [unknown]),
      )
      for (const { empty_since, ...lane } of rows) this.#known.add(lane, now, empty_since === null)
    }
    return numbers.map((number) => this.#numbered(number, now))
  }

  /** A lane that was just read. If it does not exist, its jobs have no name. */
  get(lane: number): Lane {
    return this.#met(lane) ?? nameless(lane)
  }

  /** The lane with this number; undefined if it was not used recently or does not exist. */
  find(lane: number): Lane | undefined {
    return this.#numbered(lane, this.#time.now())
  }

  /** The recently used lanes of a job. */
  knownOf(job: string): Iterable<Lane> {
    return this.#known.ofJob(job)
  }

  /** Remembers lanes that were read elsewhere. */
  met(lanes: readonly Lane[]): void {
    const now = this.#time.now()
    for (const lane of lanes) if (this.#known.numbered(lane.lane, now) === undefined) this.#known.add(lane, now, false)
  }

  #numbered(lane: number, now: number): Lane | undefined {
    return this.#known.numbered(lane, now) ?? (this.#lasting === null ? undefined : this.#lasting.#numbered(lane, now))
  }

  #met(lane: number): Lane | undefined {
    return this.#known.met(lane) ?? (this.#lasting === null ? undefined : this.#lasting.#met(lane))
  }

  #open(text: string, now: number): Lane | undefined {
    return this.#known.open(text, now) ?? (this.#lasting === null ? undefined : this.#lasting.#open(text, now))
  }

  *#make(wanted: readonly LaneKey[]): Steps<ReadonlyMap<string, Lane>> {
    const now = this.#time.now()
    const { open, closed } = yield* this.#read(wanted)
    const left = wanted.filter((key) => !open.has(textOf(key)))
    if (left.length === 0 && this.#lasting !== null) this.#lasting.#learn(wanted)
    const made = left.length === 0 ? [] : yield* this.#lasting === null ? this.#writer.write(left, closed) : this.#besides(left)
    const all = new Map([...open, ...made])
    for (const lane of all.values()) this.#known.add(lane, now, true)
    return all
  }

  /**
   * Uses one of the queue's own connections if one is free soon, because a lane created in the caller's transaction blocks others
   * from creating it until that transaction ends. So only one transaction of this program does that at a time; the others wait
   * for the queue to create the lane.
   */
  *#besides(wanted: readonly LaneKey[]): Steps<ReadonlyMap<string, Lane>> {
    const lasting = this.#lasting as Lanes
    const making = later(lasting.#make(wanted))
    if ((yield* wait(isSoonDone(making))) || lasting.#isMadeWithin) return yield* wait(making)
    lasting.#isMadeWithin = true
    const end = () => {
      lasting.#isMadeWithin = false
    }
    making.then(end, end)
    const made = yield* this.#writer.write(wanted, [], { mayWait: false })
    // Another transaction may have created it in a commit that this one does not see.
    return made.size < wanted.length ? yield* wait(making) : made
  }

  /** What a caller's transaction has read is not reused, so the lanes are read again in the background. */
  #learn(wanted: readonly LaneKey[]): void {
    this.#learning ??= later(this.#make(wanted))
      .catch(() => {})
      .finally(() => {
        this.#learning = undefined
      })
  }

  /**
   * Finds lanes by the numbers they would have; a lane with a different number is found when it is written. Lanes that may be
   * deleted are closed.
   */
  *#read(wanted: readonly LaneKey[]): Steps<{ readonly open: ReadonlyMap<string, Lane>; readonly closed: readonly number[] }> {
    const numbers = wanted.flatMap((key) => [numberOf(key, false), numberOf(key, true)])
    const texts = new Set(wanted.map(textOf))
    const question = `SELECT ${laneColumns}, empty_since FROM {lanes} WHERE lane IN (?)`
    const rows = yield* wait(this.#session.all<LaneRow>(question, [numbers]))
    const found = rows.filter((lane) => texts.has(textOf(lane)))
    const kept = found.filter(({ empty_since }) => empty_since === null)
    const open = kept.map(({ empty_since: _, ...lane }) => [textOf(lane), lane] as const)
    return { open: new Map(open), closed: found.filter(({ empty_since }) => empty_since !== null).map(({ lane }) => lane) }
  }
}

function missing(what: string): never {
  throw new TreadleError('DATABASE_FAILED', `A lane could not be made: ${what}`)
}

async function later<Value>(steps: Steps<Value>): Promise<Value> {
  return answerOf(steps)
}

/** Never rejects. */
async function isSoonDone(work: Promise<unknown>): Promise<boolean> {
  const patience = new AbortController()
  const isDone = work.then(
    () => true,
    () => false,
  )
  try {
    return await Promise.race([isDone, pause(systemClock, patienceMs, patience.signal).then(() => false)])
  } finally {
    patience.abort()
  }
}

function isSameLane(a: LaneFields, b: LaneFields): boolean {
  return (
    a.job === b.job &&
    a.queue === b.queue &&
    a.priority === b.priority &&
    a.singleInstance === b.singleInstance &&
    (a.group === null) === (b.group === null)
  )
}
