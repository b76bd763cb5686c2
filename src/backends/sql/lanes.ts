import { pause, systemClock } from '../../core/clock.ts'
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

/** How long it is waited for a connection to make a lane on. */
const patienceMs = 500

const columns = ['queue', 'job', 'priority', 'single', 'recurring', 'grouped'] as const
const select = `SELECT lane, ${columns.join(', ')} FROM {lanes}`

/**
 * The numbers of lanes. A lane is never changed and never deleted, so it is remembered; it is made in a transaction of its own,
 * so that what is remembered is there whatever becomes of the caller's transaction.
 */
export class Lanes {
  readonly #session: SqlSession
  /** Those of the queue, beside those of a transaction that somebody else ends. */
  readonly #lasting: Lanes | null
  readonly #byKey = new Map<string, Lane>()
  readonly #byNumber = new Map<number, Lane>()
  #reading: Promise<void> | undefined
  #isMadeWithin = false

  constructor(session: SqlSession, lasting: Lanes | null = null) {
    this.#session = session
    this.#lasting = lasting
  }

  /**
   * For a transaction of a caller, who may have the last connection of the pool, and so must not need another one. What it sees may
   * be rolled back, and is forgotten with it.
   */
  within(session: SqlSession): Lanes {
    return new Lanes(session, this)
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
        const lane = this.#ofKey(textOf(laneKey(envelope, isRecurring)))
        if (lane === undefined) return null
        last = { envelope, lane }
      }
      lanes.push(last.lane)
    }
    return lanes
  }

  /** The lanes with these numbers. Read in the transaction that met them: one that waits for a second connection may wait for ever. */
  async numbered(session: SqlSession, numbers: readonly number[]): Promise<readonly Lane[]> {
    if (numbers.some((lane) => this.find(lane) === undefined)) await this.#readAll(session)
    return numbers.map((lane) => this.get(lane))
  }

  /** Of a lane that was met before. */
  get(lane: number): Lane {
    return this.#known(this.find(lane), String(lane))
  }

  /** The lane with this number, unless it was not met yet or there is none. */
  find(lane: number): Lane | undefined {
    return this.#byNumber.get(lane) ?? this.#lasting?.find(lane)
  }

  /** Those that were met so far. */
  get known(): readonly Lane[] {
    return [...new Map([...(this.#lasting?.known ?? []), ...this.#byNumber.values()].map((lane) => [lane.lane, lane])).values()]
  }

  async all(): Promise<readonly Lane[]> {
    await this.#readAll(this.#session)
    return this.known
  }

  async #make(lanes: readonly LaneKey[]): Promise<void> {
    await this.#readAll(this.#session)
    const missing = this.#missingOf(lanes)
    if (this.#lasting !== null) await this.#makeBeside(missing, this.#lasting)
    else if (missing.length > 0) await this.#insert(missing)
  }

  /**
   * On a connection of the queue's own where one is soon free: a lane that is made in the transaction keeps others from making it
   * until that ends. So only one transaction of this program does that at a time, and the others wait for it and for the queue.
   */
  async #makeBeside(missing: readonly LaneKey[], lasting: Lanes): Promise<void> {
    if (missing.length === 0) return lasting.#learn()
    const making = lasting.#make(missing)
    if (await isSoonDone(making)) return
    if (!lasting.#isMadeWithin) {
      lasting.#isMadeWithin = true
      const end = () => {
        lasting.#isMadeWithin = false
      }
      making.then(end, end)
      await this.#insert(missing)
    }
    // Somebody else may have made it at a moment that this transaction does not see.
    if (this.#missingOf(missing).length > 0) await making
  }

  async #insert(lanes: readonly LaneKey[]): Promise<void> {
    await this.#session.insertNew('lanes', columns, [...lanes].sort(byText), 'lane')
    await this.#readAll(this.#session)
  }

  #missingOf(lanes: readonly LaneKey[]): readonly LaneKey[] {
    return lanes.filter((lane) => this.#ofKey(textOf(lane)) === undefined)
  }

  /** What a transaction of somebody else has read is not taken from it. Nobody waits for this. */
  #learn(): void {
    this.#reading ??= this.#readAll(this.#session)
      .catch(() => {})
      .finally(() => {
        this.#reading = undefined
      })
  }

  #ofKey(key: string): Lane | undefined {
    return this.#byKey.get(key) ?? (this.#lasting === null ? undefined : this.#lasting.#ofKey(key))
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

/** Without a rejection of its own. */
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
