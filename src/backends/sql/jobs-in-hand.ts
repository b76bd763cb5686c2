import { CountChanges, type Counts } from './counts.ts'
import type { Groups } from './groups.ts'
import { heldKeyOf, type JobChange, type JobRow, rowColumns } from './job-row.ts'
import type { Lanes } from './lanes.ts'
import type { Outcomes } from './outcomes.ts'
import type { SqlRow, SqlSession } from './session.ts'
import { type ColumnName, stateNumber } from './tables.ts'
import type { UniqueKeys } from './unique-keys.ts'

/** What hears of a job's end: whoever waits for it. */
export interface Waiting {
  /** Tells those that wait for the jobs that have ended since the last word, in the same transaction; may end more jobs. */
  tell(hand: JobsInHand): Promise<void>
}

export interface HandParts {
  readonly lanes: Lanes
  readonly counts: Counts
  readonly groups: Groups
  readonly outcomes: Outcomes
  readonly uniqueKeys: UniqueKeys
  readonly waiting: Waiting
}

/**
 * Jobs that one transaction has locked and changes: they are read once, changed here, and written together at the end, with all
 * that hangs on a change of state (counts, unique keys, turns of groups, outcomes of occurrences, jobs that wait for them).
 */
export class JobsInHand {
  readonly session: SqlSession
  readonly now: number
  readonly #parts: HandParts
  readonly #rows = new Map<string, JobRow>()
  readonly #changes = new Map<string, Record<string, unknown>>()
  readonly #before = new Map<string, JobRow>()
  readonly #removed = new Set<string>()
  #untold: JobRow[] = []
  #hasReleased = false

  constructor(session: SqlSession, now: number, parts: HandParts) {
    this.session = session
    this.now = now
    this.#parts = parts
  }

  /** Whether a job has become ready. */
  get hasReleased(): boolean {
    return this.#hasReleased
  }

  /** Reads and locks these jobs, and gives those that are there. Everybody locks in the same order. */
  async lock(ids: readonly string[]): Promise<readonly JobRow[]> {
    const missing = [...new Set(ids)].filter((id) => !this.#rows.has(id)).sort()
    if (missing.length > 0) {
      const rows = await this.session.all<JobRow>(
        `SELECT ${rowColumns.join(', ')} FROM {jobs} WHERE id IN (?) ORDER BY id FOR UPDATE`,
        [missing],
      )
      this.take(rows)
      await this.#parts.lanes.numbered(
        this.session,
        rows.map(({ lane }) => lane),
      )
    }
    return ids.flatMap((id) => this.get(id) ?? [])
  }

  /** Takes over rows that the transaction has locked by itself. */
  take(rows: readonly JobRow[]): void {
    for (const row of rows) if (!this.#rows.has(row.id)) this.#rows.set(row.id, row)
  }

  /** A job that was locked, as it stands now. */
  get(id: string): JobRow | undefined {
    return this.#removed.has(id) ? undefined : this.#rows.get(id)
  }

  /** Gives a job other values. Its unique key follows its state by itself. */
  change(id: string, change: JobChange): JobRow {
    const row = this.#rows.get(id) as JobRow
    if (!this.#before.has(id)) this.#before.set(id, row)
    const changed = { ...row, ...change }
    const held_key = heldKeyOf(changed)
    const next = { ...changed, held_key }
    this.#rows.set(id, next)
    this.#changes.set(id, { ...this.#changes.get(id), ...change, ...(held_key === row.held_key ? {} : { held_key }) })
    if (next.state >= stateNumber.succeeded && row.state < stateNumber.succeeded) this.#untold.push(next)
    return next
  }

  /** Deletes a job; one that is to be told of must have ended before. */
  remove(id: string): void {
    const row = this.#rows.get(id) as JobRow
    if (!this.#before.has(id)) this.#before.set(id, row)
    this.#removed.add(id)
  }

  /** The linked jobs that have ended since this was last asked. */
  takeUntold(): readonly JobRow[] {
    const untold = this.#untold.filter(({ linked }) => linked === 1)
    this.#untold = []
    return untold
  }

  /** Has everybody told, and writes it all. */
  async write(): Promise<void> {
    const ended = () => this.#untold.some(({ linked }) => linked === 1)
    while (ended()) await this.#parts.waiting.tell(this)
    await this.#writeChanges()
    await this.#writeConsequences()
    if (this.#removed.size > 0) await this.session.run('DELETE FROM {jobs} WHERE id IN (?)', [[...this.#removed]])
  }

  /** Rows that change in the same columns go together. */
  async #writeChanges(): Promise<void> {
    const byColumns = new Map<string, { readonly columns: ColumnName<'jobs'>[]; readonly rows: SqlRow[] }>()
    for (const [id, change] of this.#changes) {
      if (this.#removed.has(id)) continue
      const columns = Object.keys(change).sort() as ColumnName<'jobs'>[]
      const key = columns.join()
      const together = byColumns.get(key) ?? { columns, rows: [] }
      together.rows.push({ id, ...change } as SqlRow)
      byColumns.set(key, together)
    }
    for (const { columns, rows } of byColumns.values()) await this.session.update('jobs', ['id'], columns, rows)
  }

  async #writeConsequences(): Promise<void> {
    const { counts, groups, outcomes, uniqueKeys, lanes } = this.#parts
    const changes = new CountChanges()
    const arrived: JobRow[] = []
    const recurring: JobRow[] = []
    const unclaimed: JobRow[] = []
    for (const [id, before] of this.#before) {
      const after = this.#rows.get(id) as JobRow
      this.#count(changes, before, after)
      const isMoved = after.state !== before.state || after.lane !== before.lane || after.grp !== before.grp
      if (after.state === stateNumber.ready && isMoved && !this.#removed.has(id)) arrived.push(after)
      if (after.state !== before.state && lanes.get(after.lane).recurring === 1) recurring.push(after)
      const isOver = this.#removed.has(id) || after.state >= stateNumber.succeeded
      if (isOver && before.state < stateNumber.succeeded && after.started_at === null) unclaimed.push(after)
    }
    this.#hasReleased = arrived.length > 0
    await outcomes.write(this.session, recurring)
    await uniqueKeys.freeUnclaimed(this.session, unclaimed)
    await groups.arrive(
      this.session,
      arrived.filter(({ lane }) => lanes.get(lane).grouped === 1),
    )
    await changes.write(this.session, counts)
  }

  #count(changes: CountChanges, before: JobRow, after: JobRow): void {
    changes.add(before.lane, before.state, -1)
    if (!this.#removed.has(after.id)) changes.add(after.lane, after.state, 1)
  }
}
