import { type Steps, wait } from '../../../core/answer.ts'
import type { End } from '../../../queue/workflows/waiting.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import type { UniqueKeys } from '../keys/unique-keys.ts'
import { CountChanges, type Counts } from '../lanes/counts.ts'
import { crowdOf } from '../lanes/lane-numbers.ts'
import type { Lanes } from '../lanes/lanes.ts'
import type { Groups } from '../limits/groups.ts'
import type { SqlSession } from '../session.ts'
import type { Outcomes } from '../settling/outcomes.ts'
import { forgetPlaces } from '../workflows/deleted-jobs.ts'
import { LoadedEdges } from '../workflows/loaded-edges.ts'
import { LoadedWaiters } from '../workflows/loaded-waiters.ts'
import { forgetBeside } from './beside.ts'
import { heldKeyOf, type JobChange, type JobRow, rowColumns, rowEnded, unresulted } from './job-row.ts'
import { type Changes, noteChange, writeChanges } from './row-changes.ts'
import { stateNumber } from './tables.ts'
import { rewriteTags } from './tags.ts'

/** Is notified when a job ends or is put back, for the jobs that wait for it and those it waits for. */
export interface Waiting {
  /** Notifies the waiting jobs, in the same transaction, of all jobs that have ended since the last call. May end more jobs. */
  tell(hand: LoadedJobs): Steps<void>
  /** Makes ended jobs that were put back wait again for dependencies that are alive again. */
  relink(hand: LoadedJobs, ids: readonly string[]): Steps<void>
}

export type LeftBehind = Pick<End, 'result' | 'seal'>

export interface LoadedJobsParts {
  readonly lanes: Lanes
  readonly counts: Counts
  readonly groups: Groups
  readonly outcomes: Outcomes
  readonly uniqueKeys: UniqueKeys
  readonly waiting: Waiting
}

/**
 * Jobs that one transaction has locked and changes. They are read once, changed here, and written together at the end, along with
 * everything that depends on a change of state: counts, unique keys, turns of groups, outcomes of occurrences, and jobs that wait
 * for them.
 */
export class LoadedJobs {
  readonly session: SqlSession
  readonly #time: QueueTime
  #now: number | undefined
  /** The places of jobs in workflows, and the edges between them. Use these only while holding the links mutex. */
  readonly waiters: LoadedWaiters
  readonly edges: LoadedEdges
  readonly #parts: LoadedJobsParts
  readonly #rows = new Map<string, JobRow>()
  readonly #changes: Changes = new Map()
  readonly #left = new Map<string, LeftBehind>()
  readonly #before = new Map<string, JobRow>()
  readonly #removed = new Set<string>()
  #untold: JobRow[] = []
  #hasReleased = false

  constructor(session: SqlSession, time: QueueTime, parts: LoadedJobsParts) {
    this.session = session
    this.#time = time
    this.waiters = new LoadedWaiters(session)
    this.edges = new LoadedEdges(session)
    this.#parts = parts
  }

  /** The time at which the last locks were acquired. */
  get now(): number {
    this.#now ??= this.#time.now()
    return this.#now
  }

  /** When a job is due that is to run at this instant by the caller's clock. */
  dueAt(runAt: number): number {
    return this.#time.dueAt(runAt)
  }

  /** Whether a job has become ready. */
  get hasReleased(): boolean {
    return this.#hasReleased
  }

  /** Reads and locks these jobs, and returns those that exist. All transactions lock in the same order. */
  *lock(ids: readonly string[]): Steps<readonly JobRow[]> {
    const missing = [...new Set(ids)].filter((id) => !this.#rows.has(id)).sort()
    if (missing.length > 0) {
      const rows = yield* wait(
        this.session.all<JobRow>(
          `SELECT ${rowColumns.join(', ')} FROM {jobs by PRIMARY} WHERE id IN (?) ORDER BY id FOR UPDATE`,
          [missing],
        ),
      )
      this.take(rows)
      this.#now = undefined
      yield* this.#parts.lanes.numbered(
        this.session,
        rows.map(({ lane }) => lane),
      )
    }
    return ids.flatMap((id) => this.get(id) ?? [])
  }

  /** Adds rows that the transaction has already locked. */
  take(rows: readonly JobRow[]): void {
    for (const row of rows) if (!this.#rows.has(row.id)) this.#rows.set(row.id, row)
  }

  /** A locked job in its current state. */
  get(id: string): JobRow | undefined {
    return this.#removed.has(id) ? undefined : this.#rows.get(id)
  }

  /** The linked jobs that were locked. */
  get linkedIds(): readonly string[] {
    return [...this.#rows.values()].filter(({ linked }) => linked === 1).map(({ id }) => id)
  }

  /** Reads the results that jobs have left, for `leftBy`. */
  *readLeft(ids: readonly string[]): Steps<void> {
    const missing = ids.filter((id) => !this.#left.has(id))
    if (missing.length === 0) return
    const question = 'SELECT id, result, seal FROM {jobs} WHERE id IN (?)'
    const rows = yield* wait(this.session.all<LeftBehind & { readonly id: string }>(question, [missing]))
    for (const { id, result, seal } of rows) this.#left.set(id, { result, seal })
  }

  /** The result of a job that was read or changed here, with its seal. */
  leftBy(id: string): LeftBehind {
    const { result, seal } = { ...unresulted, ...this.#left.get(id), ...this.#changes.get(id) }
    return { result: result as string | null, seal: seal as string | null }
  }

  /** Changes a job. Its unique key follows from its state, and its order among crowded lanes from its lane. */
  change(id: string, given: JobChange): JobRow {
    const row = this.#rows.get(id) as JobRow
    const { lane = row.lane } = given
    const change = lane === row.lane ? given : { ...given, crowd: crowdOf(this.#parts.lanes.get(lane)) }
    if (!this.#before.has(id)) this.#before.set(id, row)
    const changed = { ...row, ...change }
    const held_key = heldKeyOf(changed)
    const next = { ...changed, held_key }
    this.#rows.set(id, next)
    noteChange(this.#changes, id, held_key === row.held_key ? change : { ...change, held_key })
    if (rowEnded(next) && !rowEnded(row)) this.#untold.push(next)
    return next
  }

  /** Deletes a job. To the jobs that wait for it, a job deleted before its end never existed. */
  remove(id: string): void {
    const row = this.#rows.get(id) as JobRow
    if (!this.#before.has(id)) this.#before.set(id, row)
    if (!rowEnded(row)) this.#untold.push(row)
    this.#removed.add(id)
  }

  get hasUntold(): boolean {
    return this.#untold.some(({ linked }) => linked === 1)
  }

  /** The linked jobs that have ended, or were deleted before their end, since the last call. */
  takeUntold(): readonly JobRow[] {
    const untold = this.#untold.filter(({ linked }) => linked === 1)
    this.#untold = []
    return untold
  }

  /** Notifies all waiting jobs, and writes everything. */
  *write(): Steps<void> {
    const { waiting } = this.#parts
    const revived = this.#linkedThat((before, after) => rowEnded(before) && !rowEnded(after))
    if (revived.length > 0) yield* waiting.relink(this, revived)
    while (this.hasUntold) yield* waiting.tell(this)
    yield* writeChanges(this.session, 'jobs', new Map([...this.#changes].filter(([id]) => !this.#removed.has(id))))
    yield* this.#writeConsequences()
    yield* this.#writeLinks()
    yield* rewriteTags(this.session, this.#newIdentities())
    if (this.#removed.size === 0) return
    const removed = [...this.#removed]
    yield* forgetBeside(this.session, removed)
    yield* wait(this.session.run('DELETE FROM {jobs} WHERE id IN (?)', [removed]))
  }

  #newIdentities(): ReadonlyMap<string, string> {
    const identities = [...this.#changes].flatMap(([id, { identity }]) =>
      typeof identity === 'string' && !this.#removed.has(id) ? [[id, identity] as const] : [],
    )
    return new Map(identities)
  }

  /** A job that is not blocked, or no longer blocked, has no deadline for its wait. */
  *#writeLinks(): Steps<void> {
    const { blocked } = stateNumber
    const unblocked = this.#linkedThat((before, after) => {
      const wasBlocked = before.state === blocked || this.waiters.get(after.id)?.gives_up_at != null
      return wasBlocked && after.state !== blocked
    })
    for (const id of unblocked) this.waiters.change(id, { gives_up_at: null, ending: null })
    yield* this.waiters.write()
    yield* this.edges.write()
    const removed = [...this.#removed].map((id) => this.#rows.get(id) as JobRow).filter(({ linked }) => linked === 1)
    yield* forgetPlaces(this.session, removed)
  }

  #linkedThat(isMeant: (before: JobRow, after: JobRow) => boolean): readonly string[] {
    const found = [...this.#before].filter(([id, before]) => {
      const after = this.#rows.get(id) as JobRow
      return after.linked === 1 && isMeant(before, after)
    })
    return found.map(([id]) => id)
  }

  *#writeConsequences(): Steps<void> {
    const { counts, groups, outcomes, uniqueKeys, lanes } = this.#parts
    const changes = new CountChanges()
    const arrived: JobRow[] = []
    const left: JobRow[] = []
    const recurring: JobRow[] = []
    const unclaimed: JobRow[] = []
    for (const [id, before] of this.#before) {
      const after = this.#rows.get(id) as JobRow
      this.#count(changes, before, after)
      const isMoved = after.state !== before.state || after.lane !== before.lane || after.grp !== before.grp
      const isThere = !this.#removed.has(id)
      if (after.state === stateNumber.ready && isMoved && isThere) arrived.push(after)
      if (before.state === stateNumber.ready && (isMoved || !isThere)) left.push(before)
      if (after.state !== before.state && lanes.get(after.lane).recurring === 1) recurring.push(after)
      const isEnding = !rowEnded(before) && (rowEnded(after) || this.#removed.has(id))
      if (isEnding && after.started_at === null) unclaimed.push(after)
    }
    this.#hasReleased = arrived.length > 0
    const isGrouped = ({ lane }: JobRow) => lanes.get(lane).grouped === 1
    yield* groups.leave(this.session, left.filter(isGrouped))
    yield* outcomes.write(this.session, recurring)
    yield* uniqueKeys.freeUnclaimed(this.session, unclaimed)
    yield* groups.arrive(this.session, arrived.filter(isGrouped))
    yield* changes.write(this.session, counts)
  }

  #count(changes: CountChanges, before: JobRow, after: JobRow): void {
    changes.add(before.lane, before.state, -1)
    if (!this.#removed.has(after.id)) changes.add(after.lane, after.state, 1)
  }
}
