import { TreadleError } from '../../core/errors.ts'
import type { Envelope } from '../../envelope/envelope.ts'
import type { SqlSession } from './session.ts'

/** All jobs of one queue, key and priority; apart from them those that run alone, occurrences of schedules, and those of groups. */
export interface Lane {
  readonly lane: number
  readonly queue: string
  readonly job: string
  readonly priority: number
  readonly single: number
  readonly recurring: number
  readonly grouped: number
}

const columns = ['queue', 'job', 'priority', 'single', 'recurring', 'grouped'] as const
const select = `SELECT lane, ${columns.join(', ')} FROM {lanes}`

/**
 * The numbers of lanes. A lane is never changed and never deleted, so it is remembered; it is made in a transaction of its own,
 * so that what is remembered is there whatever becomes of the caller's transaction.
 */
export class Lanes {
  readonly #session: SqlSession
  readonly #byKey = new Map<string, Lane>()
  readonly #byNumber = new Map<number, Lane>()

  constructor(session: SqlSession) {
    this.#session = session
  }

  /** The lanes of these envelopes, in their order. New ones are made on the way. */
  async of(envelopes: readonly Envelope[], isRecurring = false): Promise<readonly Lane[]> {
    const known = this.#knownOf(envelopes, isRecurring)
    if (known !== null) return known
    const wanted = new Map(envelopes.map((envelope) => laneKey(envelope, isRecurring)).map((lane) => [textOf(lane), lane]))
    await this.#make([...wanted.values()])
    return this.#knownOf(envelopes, isRecurring) ?? this.#missing([...wanted.keys()].join(', '))
  }

  /** Null where one of them is not known yet. Most envelopes are like the one before them. */
  #knownOf(envelopes: readonly Envelope[], isRecurring: boolean): readonly Lane[] | null {
    const lanes: Lane[] = []
    let last: { readonly envelope: Envelope; readonly lane: Lane } | undefined
    for (const envelope of envelopes) {
      if (last === undefined || !isSameLane(last.envelope, envelope)) {
        const lane = this.#byKey.get(textOf(laneKey(envelope, isRecurring)))
        if (lane === undefined) return null
        last = { envelope, lane }
      }
      lanes.push(last.lane)
    }
    return lanes
  }

  /** The lanes with these numbers. Read in the transaction that met them: one that waits for a second connection may wait for ever. */
  async numbered(session: SqlSession, numbers: readonly number[]): Promise<readonly Lane[]> {
    if (numbers.some((lane) => !this.#byNumber.has(lane))) await this.#readAll(session)
    return numbers.map((lane) => this.#known(this.#byNumber.get(lane), String(lane)))
  }

  /** Of a lane that was met before. */
  get(lane: number): Lane {
    return this.#known(this.#byNumber.get(lane), String(lane))
  }

  /** The lane with this number, unless it was not met yet or there is none. */
  find(lane: number): Lane | undefined {
    return this.#byNumber.get(lane)
  }

  /** Those that were met so far. */
  get known(): readonly Lane[] {
    return [...this.#byNumber.values()]
  }

  async all(): Promise<readonly Lane[]> {
    await this.#readAll(this.#session)
    return this.known
  }

  async #make(lanes: readonly LaneKey[]): Promise<void> {
    await this.#readAll(this.#session)
    const missing = lanes.filter((lane) => !this.#byKey.has(textOf(lane)))
    if (missing.length === 0) return
    await this.#session.insertNew('lanes', columns, [...missing].sort(byText), 'lane')
    await this.#readAll(this.#session)
  }

  async #readAll(session: SqlSession): Promise<void> {
    for (const lane of await session.all<Lane>(select)) {
      this.#byKey.set(textOf(lane), lane)
      this.#byNumber.set(lane.lane, lane)
    }
  }

  #known(lane: Lane | undefined, what: string): Lane {
    return lane ?? this.#missing(what)
  }

  #missing(what: string): never {
    throw new TreadleError('DATABASE_FAILED', `A job stands in a lane that does not exist: ${what}`)
  }
}

type LaneKey = Omit<Lane, 'lane'> & Readonly<Record<string, string | number>>

function laneKey({ queue, job, priority, singleInstance, group }: Envelope, isRecurring: boolean): LaneKey {
  return { queue, job, priority, single: +singleInstance, recurring: +isRecurring, grouped: +(group !== null) }
}

function isSameLane(a: Envelope, b: Envelope): boolean {
  return (
    a.job === b.job &&
    a.queue === b.queue &&
    a.priority === b.priority &&
    a.singleInstance === b.singleInstance &&
    (a.group === null) === (b.group === null)
  )
}

function textOf({ queue, job, priority, single, recurring, grouped }: Omit<Lane, 'lane'>): string {
  return `${queue}\n${job}\n${priority}.${single}${recurring}${grouped}`
}

/** Whoever makes several takes them in the same order, so that two programs do not wait for each other. */
function byText(a: LaneKey, b: LaneKey): number {
  return textOf(a) < textOf(b) ? -1 : 1
}
