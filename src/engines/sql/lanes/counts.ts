import { type Answer, answerOf, type Steps, wait } from '../../../core/answer.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import type { SqlDatabase, SqlSession } from '../session.ts'
import { lanesOfJobs } from './lane-repair.ts'
import { LaneSweep } from './lane-sweep.ts'

/** So many entries are worth becoming a few. */
const foldAfter = 1_000
const entriesPerFold = 5_000
/** What all lanes together have is counted as what this one has. */
export const allLanes = 0

/** What one transaction does to the number of jobs, to be written with it. */
export class CountChanges {
  readonly #changes = new Map<string, { readonly lane: number; readonly state: number; jobs: number }>()

  add(lane: number, state: number, jobs: number): void {
    const key = `${lane}.${state}`
    const change = this.#changes.get(key)
    if (change === undefined) this.#changes.set(key, { lane, state, jobs })
    else change.jobs += jobs
  }

  /** Rows that were written. An id may stand among them twice: its row was stored, and counts, once. */
  addWritten(
    rows: readonly { readonly id: string; readonly lane: number; readonly state: number }[],
    written: ReadonlySet<string>,
  ): void {
    const uncounted = new Set(written)
    for (const { id, lane, state } of rows) if (uncounted.delete(id)) this.add(lane, state, 1)
  }

  move(lane: number, from: number, to: number, jobs = 1): void {
    if (from === to) return
    this.add(lane, from, -jobs)
    this.add(lane, to, jobs)
  }

  get rows(): readonly LaneRow[] {
    return [...this.#changes.values()].filter(({ jobs }) => jobs !== 0)
  }

  /** Gives the number of entries that it wrote. Where nobody else writes, all lanes together are counted at once. */
  *insert(session: SqlSession): Steps<number> {
    const { rows } = this
    const all = session.dialect.isAlone === true ? [...rows, ...sumsOf(rows)] : rows
    yield* wait(session.insert('counts', ['lane', 'state', 'jobs'], all))
    return rows.length
  }

  *write(session: SqlSession, counts: Counts): Steps<void> {
    counts.noteEntries(yield* this.insert(session))
  }
}

/**
 * How many jobs of each lane are in each state: its totals, and the changes that were not added to them yet. Writers only add entries,
 * and so never wait for each other; now and then one of them adds many entries to the totals, and deletes lanes that nobody uses.
 */
export class Counts {
  readonly #database: SqlDatabase
  /** Of this program, since it last saw to them; null before its first. */
  #entries: number | null = null
  readonly #time: QueueTime
  readonly #sweep = new LaneSweep((session, lanes) => this.#filled(session, lanes))
  #folding: Promise<void> = Promise.resolve()

  constructor(database: SqlDatabase, time: QueueTime) {
    this.#database = database
    this.#time = time
  }

  /** Of these lanes. */
  of(lanes: readonly number[]): Answer<readonly LaneCount[]> {
    const sums = `SELECT lane, state, ${this.#sum} FROM ${each('lane IN (?)', 'lane IN (?)')} GROUP BY lane, state`
    return this.#database.all<LaneCount>(sums, [lanes, lanes])
  }

  /** Of all lanes that there are jobs in, with what makes them. */
  all(): Answer<readonly NamedCount[]> {
    const sums = `SELECT lane, state, ${this.#sum} FROM ${each('lane > 0', 'lane > 0')} GROUP BY lane, state`
    return this.#database.all<NamedCount>(
      `SELECT sums.lane, queue, job, grouped, state, jobs FROM (${sums}) AS sums JOIN {lanes} AS lanes ON lanes.lane = sums.lane
       WHERE jobs <> 0`,
    )
  }

  /** Of all lanes together: one row for a state. */
  together(): Answer<readonly Pick<LaneCount, 'state' | 'jobs'>[]> {
    return this.#database.all(`SELECT state, ${this.#sum} FROM ${each(`lane = ${allLanes}`, 'lane > 0')} GROUP BY state`)
  }

  get #sum(): string {
    return `CAST(SUM(jobs) AS ${this.#database.dialect.wholeNumber}) AS jobs`
  }

  noteEntries(entries: number): void {
    const isFirst = this.#entries === null
    const noted = (this.#entries ?? 0) + entries
    const isMany = noted >= foldAfter
    this.#entries = isMany ? 0 : noted
    // Programs that end before they have written many may still leave many together.
    if (isMany) this.#foldSoon(() => this.fold())
    else if (isFirst) this.#foldSoon(() => this.#foldMany())
  }

  /** Nobody waits for it, and what it does not get done the next one does. */
  #foldSoon(fold: () => Steps<void>): void {
    this.#folding = this.#folding.then(() => answerOf(fold())).catch(() => {})
  }

  /** However many there are, no more than those that are worth folding are read to find out. */
  *#foldMany(): Steps<void> {
    const beyond = yield* wait(this.#database.all(`SELECT entry FROM {counts} ORDER BY entry LIMIT 1 OFFSET ${foldAfter}`))
    if (beyond.length > 0) yield* this.fold()
  }

  /** As long as there are as many as are folded at once. */
  *fold(): Steps<void> {
    let folded = entriesPerFold
    while (folded >= entriesPerFold) folded = yield* wait(this.#database.transaction((session) => this.#foldIn(session)))
  }

  /** Only one does this at a time; whoever comes meanwhile leaves it to that one. */
  *#foldIn(session: SqlSession): Steps<number> {
    const alone = "SELECT name FROM {mutexes} WHERE name = 'counts' FOR UPDATE SKIP LOCKED"
    if ((yield* wait(session.all(alone))).length === 0) return 0
    const entries = yield* wait(
      session.all<LaneCount & { entry: number }>(
        `SELECT entry, lane, state, jobs FROM {counts} ORDER BY entry LIMIT ${entriesPerFold} FOR UPDATE SKIP LOCKED`,
      ),
    )
    if (entries.length > 0) {
      yield* this.#addToTotals(session, entries)
      yield* wait(session.run('DELETE FROM {counts} WHERE entry IN (?)', [entries.map(({ entry }) => entry)]))
    }
    yield* this.#sweep.step(session, this.#time.now())
    return entries.length
  }

  *#addToTotals(session: SqlSession, entries: readonly LaneCount[]): Steps<void> {
    const lanes = [...new Set(entries.map(({ lane }) => lane))].sort((a, b) => a - b)
    const question = 'SELECT lane, state, jobs FROM {totals} WHERE lane IN (?)'
    const before = yield* wait(session.all<LaneCount>(question, [[allLanes, ...lanes]]))
    const sums = new CountChanges()
    for (const { lane, state, jobs } of [...before, ...entries]) sums.add(lane, state, jobs)
    for (const { state, jobs } of entries) sums.add(allLanes, state, jobs)
    yield* wait(session.run('DELETE FROM {totals} WHERE lane IN (?)', [[allLanes, ...lanes]]))
    yield* wait(session.insert('totals', ['lane', 'state', 'jobs'], sums.rows))
    const filled = new Set(sums.rows.filter(({ lane, jobs }) => lane !== allLanes && jobs > 0).map(({ lane }) => lane))
    yield* this.#repair(session, [...filled])
  }

  /** Whoever stores a job counts it, so a lane that it stands in and that is not there is met here, if by nobody before. */
  *#repair(session: SqlSession, lanes: readonly number[]): Steps<void> {
    if (lanes.length === 0) return
    const there = yield* wait(session.all<{ lane: number }>('SELECT lane FROM {lanes} WHERE lane IN (?)', [lanes]))
    if (there.length === lanes.length) return
    const known = new Set(there.map(({ lane }) => lane))
    yield* lanesOfJobs(
      session,
      lanes.filter((lane) => !known.has(lane)),
    )
  }

  /** What is written at this moment and not to be seen yet is in a lane that somebody has kept. */
  *#filled(session: SqlSession, lanes: readonly number[]): Steps<ReadonlySet<number>> {
    const question = `SELECT DISTINCT lane FROM ${each('lane IN (?)', 'lane IN (?)')}`
    const rows = yield* wait(session.all<{ lane: number }>(question, [lanes, lanes]))
    return new Set(rows.map(({ lane }) => lane))
  }

  /** Resolves when nothing is under way any more. */
  async settled(): Promise<void> {
    await this.#folding
  }
}

type LaneRow = { readonly lane: number; readonly state: number; readonly jobs: number }

function sumsOf(rows: readonly LaneRow[]): readonly LaneRow[] {
  const sums = new CountChanges()
  for (const { state, jobs } of rows) sums.add(allLanes, state, jobs)
  return sums.rows
}

/** Each of these lanes has entries of its own. */
export function lanesIn(rows: readonly { readonly lane: number }[]): number {
  return new Set(rows.map(({ lane }) => lane)).size
}

/** Totals and entries for which this holds. */
function each(totals: string, entries: string): string {
  return `(SELECT lane, state, jobs FROM {totals} WHERE ${totals} UNION ALL SELECT lane, state, jobs FROM {counts} WHERE ${entries}) AS changes`
}

export interface NamedCount extends LaneCount {
  readonly queue: string
  readonly job: string
  readonly grouped: number
}

export interface LaneCount {
  readonly lane: number
  readonly state: number
  readonly jobs: number
}
