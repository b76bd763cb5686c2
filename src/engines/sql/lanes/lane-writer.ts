import { type Steps, wait } from '../../../core/answer.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import type { SqlSession } from '../session.ts'
import {
  crowdedFrom,
  keyColumns,
  type Lane,
  type LaneKey,
  laneColumns,
  mostSingleLanes,
  numberAfter,
  numberOf,
  textOf,
} from './lane-numbers.ts'

/** How long to wait before checking again whether there is room for another single lane. */
const crowdedForMs = 60_000

/** Writes lanes to the database. */
export class LaneWriter {
  readonly #session: SqlSession
  readonly #time: QueueTime
  #crowdedUntil = 0

  constructor(session: SqlSession, time: QueueTime) {
    this.#session = session
    this.#time = time
  }

  /**
   * Creates these lanes, and keeps those with these numbers from being deleted. Returns all that exist afterwards; without
   * `mayWait`, lanes that another transaction is creating may be missing.
   */
  *write(wanted: readonly LaneKey[], kept: readonly number[], { mayWait = true } = {}): Steps<ReadonlyMap<string, Lane>> {
    const there = kept.length === 0 ? new Map<string, Lane>() : yield* this.#keep(kept)
    const missing = wanted.filter((key) => !there.has(textOf(key)))
    const made = missing.length === 0 ? [] : yield* this.#insert(missing, mayWait)
    return new Map([...there, ...made])
  }

  /** A lane that was just deleted is not among them. */
  *#keep(numbers: readonly number[]): Steps<Map<string, Lane>> {
    const sorted = numbers.toSorted((a, b) => a - b)
    yield* wait(this.#session.run('UPDATE {lanes} SET empty_since = NULL WHERE lane IN (?)', [sorted]))
    const rows = yield* wait(this.#session.all<Lane>(`SELECT ${laneColumns} FROM {lanes} WHERE lane IN (?)`, [sorted]))
    return new Map(rows.map((lane) => [textOf(lane), lane]))
  }

  /** Lanes are always inserted in the same order, so that two programs do not deadlock. */
  *#insert(wanted: readonly LaneKey[], mayWait: boolean): Steps<ReadonlyMap<string, Lane>> {
    const room = yield* this.#room()
    const made = new Map<string, Lane>()
    let left = wanted.map((key, index): Lane => ({ ...laneKeyOf(key), lane: numberOf(key, index >= room) }))
    while (left.length > 0) {
      const rows = [...left].sort((a, b) => a.lane - b.lane).map((lane) => ({ ...lane }))
      const written = yield* wait(this.#session.insertNew('lanes', ['lane', ...keyColumns], rows, 'lane'))
      const numbers = new Set([...written].map(Number))
      const refused: Lane[] = []
      for (const lane of left) {
        const there = numbers.has(lane.lane) ? lane : yield* this.#named(lane)
        if (there === undefined) refused.push({ ...lane, lane: numberAfter(lane.lane) })
        else made.set(textOf(lane), there)
      }
      left = mayWait ? refused : []
    }
    return made
  }

  *#named(key: LaneKey): Steps<Lane | undefined> {
    const { queue, job, priority } = key
    const question = `SELECT ${laneColumns} FROM {lanes} WHERE queue = ? AND job = ? AND priority = ?`
    const rows = yield* wait(this.#session.all<Lane>(question, [queue, job, priority]))
    const there = rows.find((lane) => textOf(lane) === textOf(key))
    if (there === undefined) return undefined
    yield* wait(this.#session.run('UPDATE {lanes} SET empty_since = NULL WHERE lane IN (?)', [[there.lane]]))
    return there
  }

  /** How many more lanes may be claimed from one by one. */
  *#room(): Steps<number> {
    const now = this.#time.now()
    if (now < this.#crowdedUntil) return 0
    const single = `SELECT lane FROM {lanes} WHERE lane < ${crowdedFrom} ORDER BY lane LIMIT ${mostSingleLanes}`
    const room = mostSingleLanes - (yield* wait(this.#session.all(single))).length
    if (room === 0) this.#crowdedUntil = now + crowdedForMs
    return room
  }
}

function laneKeyOf({ queue, job, priority, single, recurring, grouped }: LaneKey): LaneKey {
  return { queue, job, priority, single, recurring, grouped }
}
