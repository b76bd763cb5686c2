import { type Steps, wait } from '../../../../core/answer.ts'
import { digest } from '../../../../core/text/digest.ts'
import { TailSizes } from '../../../../queue/units/loaded-timeline.ts'
import { Missing } from '../../../../queue/units/missing.ts'
import { type HeldKeys, isLasting, type UniqueKeys } from '../../keys/unique-keys.ts'
import type { Lanes } from '../../lanes/lanes.ts'
import { type JobRow, rowColumns, rowEnded } from '../../rows/job-row.ts'
import { isJobId } from '../../rows/lease-token.ts'
import type { SqlSession } from '../../session.ts'
import type { Edge } from '../../workflows/edges.ts'
import { placeColumns, type WorkflowPlace } from '../../workflows/places.ts'
import { LoadedEdgeRows } from './loaded-edge-rows.ts'
import { type Need, needs } from './needs.ts'
import type { RowReader } from './row-reader.ts'
import { readers, type Values } from './row-readers.ts'

export interface LoadedRowsParts {
  readonly lanes: Lanes
  readonly uniqueKeys: UniqueKeys
  /** Another connection, for when the transaction may see an old snapshot of the database. */
  readonly beside?: SqlSession
}

/** How a unit reads: as a rule, in a transaction that locks what it reads. */
export interface ReadingMode {
  /** Whether the transaction holds the links mutex. */
  readonly isAlone: boolean
  /** Whether the rules will write. Otherwise nothing is locked. */
  readonly isLocked: boolean
}

/** Jobs that a rule may store, by id, and the digests of their unique keys. */
export interface SentJobs {
  readonly ids: readonly string[]
  readonly digests: readonly string[]
  /** Whether a rule may look at one of them without storing it. */
  readonly areRead: boolean
}

/**
 * What one transaction has read for the rules. The rows of jobs are locked, and stay as they were read until the transaction
 * writes them. Places and edges are only read while the links mutex is held.
 */
export class LoadedRows {
  readonly session: SqlSession
  readonly tails = new TailSizes(1)
  readonly #parts: LoadedRowsParts
  readonly #mode: ReadingMode
  readonly #jobs = new Map<string, JobRow | null>()
  readonly #places = new Map<string, WorkflowPlace>()
  readonly #edges: LoadedEdgeRows
  readonly #values = new Map<string, Map<string, unknown>>()
  #hasConflicted = false
  #hasLinked = false

  constructor(session: SqlSession, parts: LoadedRowsParts, mode: ReadingMode) {
    this.session = session
    this.#parts = parts
    this.#mode = mode
    this.#edges = new LoadedEdgeRows(session)
  }

  job(id: string): JobRow | null {
    if (!isJobId(id)) return null
    const row = this.#jobs.get(id)
    if (row === undefined) throw new Missing(needs('job', [id]))
    return row
  }

  /** A loaded job's place in a workflow. */
  place(id: string): WorkflowPlace | undefined {
    return this.#places.get(id)
  }

  /** Whether one of the jobs is part of a workflow. */
  get hasLinked(): boolean {
    return this.#hasLinked
  }

  get<Kind extends keyof Values>(kind: Kind, name: string): Values[Kind] {
    if (!this.#has({ kind, name })) throw new Missing(needs(kind, [name]))
    return this.peek(kind, name) as Values[Kind]
  }

  /** Undefined if it was not loaded. */
  peek<Kind extends keyof Values>(kind: Kind, name: string): Values[Kind] | undefined {
    return this.#values.get(kind)?.get(name) as Values[Kind] | undefined
  }

  edges(kind: 'edgesTo' | 'edgesOf' | 'awaited' | 'rescues' | 'child', name: string): readonly Edge[] {
    const found = this.#edges.list(kind, name)
    if (found === undefined) throw new Missing(needs(kind, [name]))
    return found
  }

  hasEdges(kind: 'edgesOf', name: string): boolean {
    return this.#edges.list(kind, name) !== undefined
  }

  /** Has all of these loaded at once if any of them is missing. */
  want(wanted: readonly Need[]): void {
    const missing = wanted.filter((need) => !this.#has(need))
    if (missing.length > 0) throw new Missing(missing)
  }

  /** What was not there may have been stored by others by now, even if this transaction does not see it. */
  forgetAbsent(): void {
    for (const [id, row] of this.#jobs) if (row === null) this.#jobs.delete(id)
    this.#values.delete('key')
    this.#values.delete('number')
    this.#hasConflicted = true
  }

  *load(wanted: readonly Need[]): Steps<void> {
    const missing = this.#widened(wanted).filter((need) => !this.#has(need))
    const names = (kind: Need['kind']) => [...new Set(missing.flatMap((need) => (need.kind === kind ? [need.name] : [])))].sort()
    yield* this.lock(names('job'))
    yield* this.#edges.loadTo(names('edgesTo'), (waiters) => this.lock(waiters))
    yield* this.lock(yield* this.#edges.loadOf(names('edgesOf')))
    yield* this.#edges.loadAwaited(names('awaited'))
    yield* this.#edges.loadRescues(names('rescues'))
    yield* this.#edges.loadChildren(names('child'))
    for (const kind of new Set(missing.map((need) => need.kind))) if (isRead(kind)) yield* this.#read(kind, names(kind))
  }

  /**
   * Looks for jobs that are probably new, without a lock: in a caller's transaction that would keep others from storing theirs.
   * If they can only be stored, it looks only after a conflict: a job that is there cannot be written again.
   */
  *expectNew({ ids, digests, areRead }: SentJobs): Steps<void> {
    const { uniqueKeys, beside } = this.#parts
    const there = new Set<string>()
    if (ids.length > 0 && (areRead || this.#hasConflicted)) {
      const sessions = beside !== undefined && this.#hasConflicted ? [beside, this.session] : [this.session]
      for (const session of sessions) {
        const found = yield* uniqueKeys.held(session, digests, ids)
        for (const digest of digests) this.#addKey(digest, found.held.get(digest) ?? {})
        for (const id of found.there) there.add(id)
      }
    }
    for (const id of ids) if (!there.has(id) && !this.#jobs.has(id)) this.#jobs.set(id, null)
  }

  #addKey(digest: string, held: HeldKeys): void {
    this.#table('key').set(digest, { ...this.peek('key', digest), ...held })
  }

  /** Reads and locks these jobs, with their places in workflows. All transactions lock in the same order. */
  *lock(ids: readonly string[]): Steps<void> {
    const missing = [...new Set(ids)].filter((id) => isJobId(id) && !this.#jobs.has(id)).sort()
    if (missing.length === 0) return
    const question = `SELECT ${rowColumns.join(', ')} FROM {jobs by PRIMARY} WHERE id IN (?) ORDER BY id ${this.#mode.isLocked ? 'FOR UPDATE' : ''}`
    const rows = yield* wait(this.session.all<JobRow>(question, [missing]))
    for (const id of missing) this.#jobs.set(id, null)
    for (const row of rows) {
      this.#jobs.set(row.id, row)
      if (row.number !== null) this.#table('number').set(String(row.number), row.id)
    }
    yield* this.#parts.lanes.numbered(
      this.session,
      rows.map(({ lane }) => lane),
    )
    const linked = rows.filter((row) => row.linked === 1).map(({ id }) => id)
    if (linked.length === 0) return
    this.#hasLinked = true
    if (!this.#mode.isAlone) throw new LinksMet()
    yield* this.lockPlaces(linked)
  }

  *lockPlaces(ids: readonly string[]): Steps<void> {
    const question = `SELECT ${placeColumns.join(', ')} FROM {links} WHERE id IN (?)`
    for (const place of yield* wait(this.session.all<WorkflowPlace>(question, [ids]))) this.#places.set(place.id, place)
  }

  /** If a rule needs something of one job, it is likely to need the same of the other jobs that are loaded. */
  #widened(wanted: readonly Need[]): readonly Need[] {
    const kinds = new Set(wanted.map(({ kind }) => kind))
    const rows = [...this.#jobs.values()].filter((row) => row !== null)
    const places = [...this.#places.values()]
    const more: Need[] = []
    const add = (kind: Need['kind'], names: () => readonly string[]) => {
      if (kinds.has(kind)) more.push(...needs(kind, names()))
    }
    add('job', () => this.#edges.targetsBeside(wanted.map(({ name }) => name)))
    add('edgesTo', () => rows.filter(({ linked }) => linked === 1).map(({ id }) => id))
    add('awaited', () => places.filter(({ pending }) => pending > 0).map(({ id }) => id))
    add('rescues', () => places.filter(({ stands_in }) => stands_in === 1).map(({ id }) => id))
    add('result', () => rows.filter((row) => rowEnded(row) || this.#places.get(row.id)?.ending != null).map(({ id }) => id))
    add('key', () =>
      rows.flatMap(({ unique_key, unique_until }) =>
        unique_key !== null && isLasting(unique_until) ? [digest(unique_key)] : [],
      ),
    )
    return [...wanted, ...more]
  }

  #has({ kind, name }: Need): boolean {
    if (kind === 'job') return !isJobId(name) || this.#jobs.has(name)
    return isRead(kind) ? this.#values.get(kind)?.has(name) === true : this.#edges.list(kind, name) !== undefined
  }

  *#read<Kind extends keyof Values>(kind: Kind, names: readonly string[]): Steps<void> {
    const { absent, read }: RowReader<Values[Kind]> = readers[kind]
    const { uniqueKeys, beside } = this.#parts
    const { isLocked } = this.#mode
    const found = yield* read(
      { session: this.session, uniqueKeys, beside: this.#hasConflicted ? beside : undefined, isLocked },
      names,
    )
    const values = this.#table(kind)
    for (const name of names) values.set(name, absent)
    for (const [name, value] of found) values.set(name, value)
    if (kind === 'members') yield* this.lock(names.flatMap((root) => this.peek('members', root) ?? []))
  }

  #table<Kind extends keyof Values>(kind: Kind): Map<string, Values[Kind]> {
    const known = this.#values.get(kind) ?? new Map()
    this.#values.set(kind, known)
    return known
  }
}

function isRead(kind: Need['kind']): kind is keyof Values {
  return kind in readers
}

/** The mutex must be taken before the rows, or two transactions would deadlock. */
export class LinksMet extends Error {}
