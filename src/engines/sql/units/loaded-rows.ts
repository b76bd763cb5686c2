import { type Steps, wait } from '../../../core/answer.ts'
import type { Seal } from '../../../envelope/envelope.ts'
import { Missing } from '../../../queue/units/missing.ts'
import type { End } from '../../../queue/workflows/waiting.ts'
import { type HeldKeys, isLasting, type UniqueKeys } from '../keys/unique-keys.ts'
import type { Lanes } from '../lanes/lanes.ts'
import { digestOfKey, type JobRow, rowColumns, rowEnded } from '../rows/job-row.ts'
import { isJobId } from '../rows/lease-token.ts'
import type { SqlSession } from '../session.ts'
import type { Edge } from '../workflows/edges.ts'
import { placeColumns, type WorkflowPlace } from '../workflows/places.ts'
import { LoadedEdgeRows } from './loaded-edge-rows.ts'
import { type Need, needs } from './needs.ts'

export interface LoadedRowsParts {
  readonly lanes: Lanes
  readonly uniqueKeys: UniqueKeys
  /** Another connection, for when the transaction may see an old snapshot of the database. */
  readonly beside?: SqlSession
}

export type Result = Pick<End, 'result' | 'seal'>

/**
 * What one transaction has read for the rules. The rows of jobs are locked, and stay as they were read until the transaction
 * writes them. Places and edges are only read while the links mutex is held.
 */
export class LoadedRows {
  readonly session: SqlSession
  readonly #parts: LoadedRowsParts
  readonly #isAlone: boolean
  readonly #jobs = new Map<string, JobRow | null>()
  readonly #places = new Map<string, WorkflowPlace>()
  readonly #seals = new Map<string, Seal>()
  readonly #results = new Map<string, Result>()
  readonly #edges: LoadedEdgeRows
  readonly #keys = new Map<string, HeldKeys>()
  readonly #numbers = new Map<string, string | null>()
  readonly #members = new Map<string, readonly string[]>()
  #readsBeside = false
  #hasLinked = false

  /** `isAlone`: whether the transaction holds the links mutex. */
  constructor(session: SqlSession, parts: LoadedRowsParts, isAlone: boolean) {
    this.session = session
    this.#parts = parts
    this.#isAlone = isAlone
    this.#edges = new LoadedEdgeRows(session)
  }

  job(id: string): JobRow | null {
    return isJobId(id) ? this.#loaded(this.#jobs, 'job', id) : null
  }

  /** A loaded job's place in a workflow. */
  place(id: string): WorkflowPlace | undefined {
    return this.#places.get(id)
  }

  /** Whether one of the jobs is part of a workflow. */
  get hasLinked(): boolean {
    return this.#hasLinked
  }

  seal(id: string): Seal {
    return this.#loaded(this.#seals, 'seal', id)
  }

  result(id: string): Result {
    return this.#loaded(this.#results, 'result', id)
  }

  edges(kind: 'edgesTo' | 'edgesOf' | 'awaited' | 'rescues' | 'child', name: string): readonly Edge[] {
    const found = this.#edges.list(kind, name)
    if (found === undefined) throw new Missing(needs(kind, [name]))
    return found
  }

  hasEdges(kind: 'edgesOf', name: string): boolean {
    return this.#edges.list(kind, name) !== undefined
  }

  key(digest: string): HeldKeys {
    return this.#loaded(this.#keys, 'key', digest)
  }

  numbered(number: number): string | null {
    return this.#loaded(this.#numbers, 'number', String(number))
  }

  members(root: string): readonly string[] {
    return this.#loaded(this.#members, 'members', root)
  }

  /** Has all of these loaded at once if any of them is missing. */
  want(wanted: readonly Need[]): void {
    const missing = wanted.filter((need) => !this.#has(need))
    if (missing.length > 0) throw new Missing(missing)
  }

  /** What was not there may have been stored by others by now, even if this transaction does not see it. */
  forgetAbsent(): void {
    for (const [id, row] of this.#jobs) if (row === null) this.#jobs.delete(id)
    this.#keys.clear()
    this.#numbers.clear()
    this.#readsBeside = true
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
    yield* this.#loadSeals(names('seal'))
    yield* this.#loadResults(names('result'))
    yield* this.#loadKeys(names('key'))
    yield* this.#loadNumbers(names('number'))
    yield* this.#loadMembers(names('members'))
  }

  /** Reads and locks these jobs, with their places in workflows. All transactions lock in the same order. */
  *lock(ids: readonly string[]): Steps<void> {
    const missing = [...new Set(ids)].filter((id) => isJobId(id) && !this.#jobs.has(id)).sort()
    if (missing.length === 0) return
    const question = `SELECT ${rowColumns.join(', ')} FROM {jobs by PRIMARY} WHERE id IN (?) ORDER BY id FOR UPDATE`
    const rows = yield* wait(this.session.all<JobRow>(question, [missing]))
    for (const id of missing) this.#jobs.set(id, null)
    for (const row of rows) {
      this.#jobs.set(row.id, row)
      if (row.number !== null) this.#numbers.set(String(row.number), row.id)
    }
    yield* this.#parts.lanes.numbered(
      this.session,
      rows.map(({ lane }) => lane),
    )
    const linked = rows.filter((row) => row.linked === 1).map(({ id }) => id)
    if (linked.length === 0) return
    this.#hasLinked = true
    if (!this.#isAlone) throw new LinksMet()
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
        unique_key !== null && isLasting(unique_until) ? [digestOfKey(unique_key)] : [],
      ),
    )
    return [...wanted, ...more]
  }

  #has({ kind, name }: Need): boolean {
    switch (kind) {
      case 'job':
        return !isJobId(name) || this.#jobs.has(name)
      case 'seal':
        return this.#seals.has(name)
      case 'result':
        return this.#results.has(name)
      case 'key':
        return this.#keys.has(name)
      case 'number':
        return this.#numbers.has(name)
      case 'members':
        return this.#members.has(name)
      default:
        return this.#edges.list(kind, name) !== undefined
    }
  }

  #loaded<Value>(values: ReadonlyMap<string, Value>, kind: Need['kind'], name: string): Value {
    const value = values.get(name)
    if (value === undefined) throw new Missing(needs(kind, [name]))
    return value
  }

  /** The rows are already locked; locking them again returns their current contents. */
  *#loadSeals(ids: readonly string[]): Steps<void> {
    if (ids.length === 0) return
    const question = 'SELECT id, identity, payload, signature FROM {jobs} WHERE id IN (?) ORDER BY id FOR UPDATE'
    const rows = yield* wait(this.session.all<Seal & { readonly id: string }>(question, [ids]))
    for (const { id, ...seal } of rows) this.#seals.set(id, seal)
  }

  *#loadResults(ids: readonly string[]): Steps<void> {
    if (ids.length === 0) return
    const question = 'SELECT id, result, seal FROM {jobs} WHERE id IN (?)'
    const rows = yield* wait(this.session.all<Result & { readonly id: string }>(question, [ids]))
    for (const { id, result, seal } of rows) this.#results.set(id, { result, seal })
  }

  *#loadKeys(digests: readonly string[]): Steps<void> {
    if (digests.length === 0) return
    const { uniqueKeys, beside } = this.#parts
    const others = this.#readsBeside && beside !== undefined ? yield* uniqueKeys.held(beside, digests) : new Map()
    const own = yield* uniqueKeys.held(this.session, digests)
    for (const digest of digests) this.#keys.set(digest, { ...others.get(digest), ...own.get(digest) })
  }

  *#loadNumbers(numbers: readonly string[]): Steps<void> {
    if (numbers.length === 0) return
    const question = 'SELECT number, id FROM {jobs} WHERE number IN (?)'
    const rows = yield* wait(this.session.all<{ number: number; id: string }>(question, [numbers.map(Number)]))
    for (const number of numbers) this.#numbers.set(number, null)
    for (const { number, id } of rows) this.#numbers.set(String(number), id)
  }

  *#loadMembers(roots: readonly string[]): Steps<void> {
    for (const root of roots) {
      const rows = yield* wait(this.session.all<{ id: string }>('SELECT id FROM {links} WHERE root = ?', [root]))
      const ids = rows.map(({ id }) => id)
      this.#members.set(root, ids)
      yield* this.lock(ids)
    }
  }
}

/** The mutex must be taken before the rows, or two transactions would deadlock. */
export class LinksMet extends Error {}
