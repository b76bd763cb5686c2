import { type Steps, wait } from '../../../core/answer.ts'
import type { OnceMark } from '../../../queue/contract/contract.ts'
import { type Changes, noteChange, writeChanges } from '../rows/row-changes.ts'
import type { ColumnName } from '../rows/tables.ts'
import type { SqlSession } from '../session.ts'

/** A job that waits for others, or may. */
export interface Waiter {
  readonly id: string
  readonly root: string
  readonly parent: string | null
  readonly longest_wait_ms: number
  /** How many edges it waits for. */
  readonly pending: number
  /** When it gives up waiting; null if it is not blocked. */
  readonly gives_up_at: number | null
  /** What will happen to a running job when its handler finishes: a `Doom`. */
  readonly doom: string | null
  /** What its handler left to do when its children have ended: an `Ending`. */
  readonly ending: string | null
  /** 1 if it waits for a job that it stands in for. */
  readonly stands_in: number
}

/** Why a running job will be failed or skipped when its handler finishes. */
export interface Doom {
  readonly isSkipped: boolean
  readonly why: string
}

/** What happens to a finished job once its children have ended. */
export interface Ending {
  readonly keep: boolean
  readonly once: OnceMark | null
}

const columns = [
  'id',
  'root',
  'parent',
  'longest_wait_ms',
  'pending',
  'gives_up_at',
  'doom',
  'ending',
  'stands_in',
] as const satisfies readonly (ColumnName<'links'> & keyof Waiter)[]

type WaiterChange = Partial<Omit<Waiter, 'id'>>

/** The places in workflows that one transaction reads and changes: read once, and written together at its end. */
export class LoadedWaiters {
  readonly #session: SqlSession
  readonly #known = new Map<string, Waiter | undefined>()
  readonly #added = new Set<string>()
  readonly #changes: Changes = new Map()

  constructor(session: SqlSession) {
    this.#session = session
  }

  *read(ids: readonly string[]): Steps<void> {
    const missing = [...new Set(ids)].filter((id) => !this.#known.has(id))
    if (missing.length === 0) return
    for (const id of missing) this.#known.set(id, undefined)
    const rows = yield* wait(this.#session.all<Waiter>(`SELECT ${columns.join(', ')} FROM {links} WHERE id IN (?)`, [missing]))
    for (const row of rows) this.#known.set(row.id, row)
  }

  has(id: string): boolean {
    return this.#known.has(id)
  }

  /** A place that was read; undefined if the job has no place in a workflow. */
  get(id: string): Waiter | undefined {
    return this.#known.get(id)
  }

  add(waiter: Waiter): void {
    this.#known.set(waiter.id, waiter)
    this.#added.add(waiter.id)
  }

  change(id: string, change: WaiterChange): void {
    const known = this.#known.get(id)
    if (known !== undefined) this.#known.set(id, { ...known, ...change })
    if (!this.#added.has(id)) noteChange(this.#changes, id, change)
  }

  *write(): Steps<void> {
    const added = [...this.#added].map((id) => ({ ...(this.#known.get(id) as Waiter) }))
    yield* wait(this.#session.insert('links', columns, added))
    yield* writeChanges(this.#session, 'links', this.#changes)
  }
}
