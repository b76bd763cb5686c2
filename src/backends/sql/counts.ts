import type { SqlDatabase, SqlSession } from './session.ts'

/** So many entries are worth becoming a few. */
const foldAfter = 1_000
const entriesPerFold = 5_000

/** What one transaction does to the number of jobs, to be written with it. */
export class CountChanges {
  readonly #changes = new Map<string, { readonly lane: number; readonly state: number; jobs: number }>()

  add(lane: number, state: number, jobs: number): void {
    const key = `${lane}.${state}`
    const change = this.#changes.get(key)
    if (change === undefined) this.#changes.set(key, { lane, state, jobs })
    else change.jobs += jobs
  }

  move(lane: number, from: number, to: number, jobs = 1): void {
    if (from === to) return
    this.add(lane, from, -jobs)
    this.add(lane, to, jobs)
  }

  /** Gives the number of entries that it wrote. */
  async insert(session: SqlSession): Promise<number> {
    const rows = [...this.#changes.values()].filter(({ jobs }) => jobs !== 0)
    await session.insert('counts', ['lane', 'state', 'jobs'], rows)
    return rows.length
  }

  async write(session: SqlSession, counts: Counts): Promise<void> {
    counts.noteEntries(await this.insert(session))
  }
}

/**
 * How many jobs of each lane are in each state: the sum of all changes. Writers only add entries, and so never wait for each
 * other; now and then many entries become one.
 */
export class Counts {
  readonly #database: SqlDatabase
  /** Of this program, since it last saw to them; null before its first. */
  #entries: number | null = null
  #folding: Promise<void> = Promise.resolve()

  constructor(database: SqlDatabase) {
    this.#database = database
  }

  all(): Promise<readonly LaneCount[]> {
    const sum = `CAST(SUM(jobs) AS ${this.#database.dialect.wholeNumber})`
    return this.#database.all<LaneCount>(`SELECT lane, state, ${sum} AS jobs FROM {counts} GROUP BY lane, state`)
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
  #foldSoon(fold: () => Promise<void>): void {
    this.#folding = this.#folding.then(fold).catch(() => {})
  }

  /** However many there are, no more than those that are worth folding are read to find out. */
  async #foldMany(): Promise<void> {
    const beyond = await this.#database.all(`SELECT entry FROM {counts} ORDER BY entry LIMIT 1 OFFSET ${foldAfter}`)
    if (beyond.length > 0) await this.fold()
  }

  async fold(): Promise<void> {
    await this.#database.transaction(async (session) => {
      const entries = await session.all<LaneCount & { entry: number }>(
        `SELECT entry, lane, state, jobs FROM {counts} ORDER BY entry LIMIT ${entriesPerFold} FOR UPDATE SKIP LOCKED`,
      )
      if (entries.length === 0) return
      const sums = new CountChanges()
      for (const { lane, state, jobs } of entries) sums.add(lane, state, jobs)
      await session.run('DELETE FROM {counts} WHERE entry IN (?)', [entries.map(({ entry }) => entry)])
      await sums.write(session, this)
    })
  }

  /** Resolves when nothing is under way any more. */
  async settled(): Promise<void> {
    await this.#folding
  }
}

export interface LaneCount {
  readonly lane: number
  readonly state: number
  readonly jobs: number
}
