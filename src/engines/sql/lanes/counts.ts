import { type Answer, answerOf, type Steps, wait } from '../../../core/answer.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import type { SqlDatabase, SqlSession } from '../session.ts'
import { lanesOfJobs } from './lane-repair.ts'
import { LaneSweep } from './lane-sweep.ts'

/** How many entries make folding worthwhile. */
const foldAfter = 1_000
const entriesPerFold = 5_000
/** Counts of all lanes together are stored under this lane number. */
export const allLanes = 0

/** The changes that one transaction makes to the numbers of jobs, written in that transaction. */
export class CountChanges {
  readonly #changes = new Map<string, { readonly lane: number; readonly state: number; jobs: number }>()

  add(lane: number, state: number, jobs: number): void {
    const key = `${lane}.${state}`
    const change = this.#changes.get(key)
    if (change === undefined) this.#changes.set(key, { lane, state, jobs })
    else change.jobs += jobs
  }

  /** Adds rows that were written. An id may occur twice among them: its row was stored once and counts once. */
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

  /** Moves one job for each mention of a lane. Most of them are the same, so they are summed up first. */
  moveEach(lanes: readonly number[], from: number, to: number): void {
    const jobs = new Map<number, number>()
    for (const lane of lanes) jobs.set(lane, (jobs.get(lane) ?? 0) + 1)
    for (const [lane, moved] of jobs) this.move(lane, from, to, moved)
  }

  /** Sums of what somebody else has written may be larger than their column, and lanes that cannot exist are left out. */
  get rows(): readonly LaneRow[] {
    const rows = [...this.#changes.values()].filter(({ lane, jobs }) => jobs !== 0 && Number.isSafeInteger(lane))
    return rows.map((row) =>
      Number.isSafeInteger(row.jobs) ? row : { ...row, jobs: Math.sign(row.jobs) * Number.MAX_SAFE_INTEGER },
    )
  }

  /**
   * Returns the number of entries written. Where nothing else can write at the same time, the sums over all lanes are updated
   * too.
   */
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
 * How many jobs of each lane are in each state: its totals, plus the changes not yet added to them. Writers only append entries,
 * so they never wait for each other. From time to time one of them adds many entries to the totals, and deletes unused lanes.
 */
export class Counts {
  readonly #database: SqlDatabase
  /** Number of entries this program has written since it last folded; null before its first. */
  #entries: number | null = null
  readonly #time: QueueTime
  readonly #sweep = new LaneSweep((session, lanes) => this.#filled(session, lanes))
  #folding: Promise<void> = Promise.resolve()

  constructor(database: SqlDatabase, time: QueueTime) {
    this.#database = database
    this.#time = time
  }

  /** The counts of these lanes. */
  of(lanes: readonly number[]): Answer<readonly LaneCount[]> {
    const sums = `SELECT lane, state, ${this.#sum} FROM ${each('lane IN (?)', 'lane IN (?)')} GROUP BY lane, state`
    return this.#database.all<LaneCount>(sums, [lanes, lanes])
  }

  /** The counts of all lanes that contain jobs, with the queue and job of each lane. */
  all(): Answer<readonly NamedCount[]> {
    const sums = `SELECT lane, state, ${this.#sum} FROM ${each('lane > 0', 'lane > 0')} GROUP BY lane, state`
    return this.#database.all<NamedCount>(
      `SELECT sums.lane, queue, job, grouped, state, jobs FROM (${sums}) AS sums JOIN {lanes} AS lanes ON lanes.lane = sums.lane
       WHERE jobs <> 0`,
    )
  }

  /** The counts of all lanes together: one row per state. */
  together(): Answer<readonly Pick<LaneCount, 'state' | 'jobs'>[]> {
    return this.#database.all(`SELECT state, ${this.#sum} FROM ${each(`lane = ${allLanes}`, 'lane > 0')} GROUP BY state`)
  }

  /** Up to `limit` lanes with jobs in this state. */
  lanesIn(state: number, limit: number): Answer<readonly Pick<LaneCount, 'lane'>[]> {
    const changes = each(`lane > 0 AND state = ${state}`, `lane > 0 AND state = ${state}`)
    return this.#database.all(
      `SELECT lane FROM ${changes} GROUP BY lane HAVING ${this.#database.dialect.sumOf('jobs')} > 0 LIMIT ${limit}`,
    )
  }

  get #sum(): string {
    const { dialect } = this.#database
    return `${dialect.wholeNumber(dialect.sumOf('jobs'))} AS jobs`
  }

  noteEntries(entries: number): void {
    const isFirst = this.#entries === null
    const noted = (this.#entries ?? 0) + entries
    const isMany = noted >= foldAfter
    this.#entries = isMany ? 0 : noted
    // Programs that exit before they have written many entries may still leave many between them.
    if (isMany) this.#foldSoon(() => this.fold())
    else if (isFirst) this.#foldSoon(() => this.#foldMany())
  }

  /** Runs in the background. What it leaves undone, the next fold does. */
  #foldSoon(fold: () => Steps<void>): void {
    this.#folding = this.#folding.then(() => answerOf(fold())).catch(() => {})
  }

  /** Reads only up to the threshold to find out, however many entries there are. */
  *#foldMany(): Steps<void> {
    const beyond = yield* wait(this.#database.all(`SELECT entry FROM {counts} ORDER BY entry LIMIT 1 OFFSET ${foldAfter}`))
    if (beyond.length > 0) yield* this.fold()
  }

  /** Repeats as long as a round folds a full batch. */
  *fold(): Steps<void> {
    let folded = entriesPerFold
    while (folded >= entriesPerFold) folded = yield* wait(this.#database.transaction((session) => this.#foldIn(session)))
  }

  /** Only one program does this at a time; if another one is already doing it, this is skipped. */
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
    const lanes = [...new Set(entries.map(({ lane }) => lane))].filter(Number.isSafeInteger).sort((a, b) => a - b)
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

  /** Every stored job is counted, so a job whose lane is missing is noticed here at the latest. */
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

  /** Entries that are being written and are not yet visible belong to a lane that its writer has kept from being deleted. */
  *#filled(session: SqlSession, lanes: readonly number[]): Steps<ReadonlySet<number>> {
    const question = `SELECT DISTINCT lane FROM ${each('lane IN (?)', 'lane IN (?)')}`
    const rows = yield* wait(session.all<{ lane: number }>(question, [lanes, lanes]))
    return new Set(rows.map(({ lane }) => lane))
  }

  /** Resolves when no fold is in progress. */
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

/** Each of these lanes has its own entry. */
export function lanesIn(rows: readonly { readonly lane: number }[]): number {
  return new Set(rows.map(({ lane }) => lane)).size
}

/** Totals and entries that match these conditions. */
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
