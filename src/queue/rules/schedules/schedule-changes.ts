import type { ChangedSchedule, ScheduleChanges, ScheduleRecord } from '../../contract/schedule-store.ts'

type Known = Omit<ScheduleRecord, 'last' | 'nextAt'>

interface Change {
  readonly revision: number
  /** When it was removed; null if it exists. */
  readonly removedAt: number | null
}

/** The last change of each schedule, oldest first. */
export class ScheduleChangeLog {
  readonly #changes = new Map<string, Change>()
  #revision = 0

  get revision(): number {
    return this.#revision
  }

  /** In the order of their last changes. */
  get names(): readonly string[] {
    return [...this.#changes.keys()]
  }

  add(name: string): void {
    this.#write(name, null)
  }

  remove(name: string, now: number): void {
    this.#write(name, now)
  }

  after(since: number, limit: number, find: (name: string) => Known | undefined): ScheduleChanges {
    if (this.#revision <= since) return { revision: this.#revision, changed: [], hasMore: false }
    const later = [...this.#changes].filter(([, { revision }]) => revision > since)
    const page = later.slice(0, limit)
    const hasMore = later.length > page.length
    const last = page.at(-1)?.[1].revision ?? since
    return { revision: hasMore ? last : this.#revision, changed: page.map(([name]) => changeOf(name, find(name))), hasMore }
  }

  /** Deletes the records of schedules removed before this. */
  forget(before: number): void {
    for (const [name, { removedAt }] of this.#changes) if (removedAt !== null && removedAt < before) this.#changes.delete(name)
  }

  /** Maps iterate in insertion order, so delete first to move the entry to the end. */
  #write(name: string, removedAt: number | null): void {
    this.#revision++
    this.#changes.delete(name)
    this.#changes.set(name, { revision: this.#revision, removedAt })
  }
}

function changeOf(name: string, known: Known | undefined): ChangedSchedule {
  if (known === undefined) return { name, entry: null }
  const { expression, timezone, version, definition } = known
  return { name, entry: { name, expression, timezone, version, definition } }
}
