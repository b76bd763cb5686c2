import { type Steps, wait } from '../../../core/answer.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { allLanes, Counts, type LaneCount, type NamedCount } from '../../sql/lanes/counts.ts'
import { LaneSweep } from '../../sql/lanes/lane-sweep.ts'
import type { SqlSession } from '../../sql/session.ts'
import type { FileDatabase } from '../file/file-database.ts'

/** Number of count changes between sweeps for unused lanes. */
const sweepAfter = 1_000

/**
 * Only one transaction writes at a time, so each count is a single row that is updated in place: there are no entries to sum up.
 */
export class KeptCounts extends Counts {
  readonly #database: FileDatabase
  readonly #time: QueueTime
  readonly #sweep = new LaneSweep(filled)
  #changes = 0

  constructor(database: FileDatabase, time: QueueTime) {
    super(database, time)
    this.#database = database
    this.#time = time
  }

  override of(lanes: readonly number[]): readonly LaneCount[] {
    return this.#database.all('SELECT lane, state, jobs FROM {counts} WHERE lane IN (?)', [lanes])
  }

  override all(): readonly NamedCount[] {
    return this.#database.all(
      `SELECT counts.lane, queue, job, grouped, state, jobs FROM {counts} AS counts JOIN {lanes} AS lanes ON lanes.lane = counts.lane
       WHERE jobs <> 0`,
    )
  }

  override together(): readonly Pick<LaneCount, 'state' | 'jobs'>[] {
    return this.#database.all(`SELECT state, jobs FROM {counts} WHERE lane = ${allLanes}`)
  }

  override lanesIn(state: number, limit: number): readonly Pick<LaneCount, 'lane'>[] {
    const filled = `lane > ${allLanes} AND state = ${state} AND jobs > 0`
    return this.#database.all(`SELECT lane FROM {counts} WHERE ${filled} LIMIT ${limit}`)
  }

  override noteEntries(entries: number): void {
    this.#changes += entries
    if (this.#changes < sweepAfter) return
    this.#changes = 0
    this.#database.transaction((session) => this.#sweep.step(session, this.#time.now()))
  }
}

function* filled(session: SqlSession, lanes: readonly number[]): Steps<ReadonlySet<number>> {
  const rows = yield* wait(
    session.all<{ lane: number }>('SELECT DISTINCT lane FROM {counts} WHERE lane IN (?) AND jobs <> 0', [lanes]),
  )
  return new Set(rows.map(({ lane }) => lane))
}
