import type { Clock } from '../../core/clock.ts'
import type { Occurrence, ScheduleEntry, ScheduleRecord, ScheduleStore } from '../store.ts'
import type { Jobs } from './jobs.ts'
import type { Watchers } from './watchers.ts'

export interface MemorySchedulesParts {
  readonly clock: Clock
  readonly jobs: Jobs
  readonly watchers: Watchers
  readonly checkOpen: () => void
}

export class MemorySchedules implements ScheduleStore {
  readonly #parts: MemorySchedulesParts
  readonly #entries = new Map<string, ScheduleEntry>()
  /** By schedule, then by instant: the id of the occurrence's job. They outlive their jobs. */
  readonly #occurrences = new Map<string, Map<number, string>>()
  /** The latest forgotten instant of each schedule: a yearly one still has run before. */
  readonly #forgotten = new Map<string, number>()

  constructor(parts: MemorySchedulesParts) {
    this.#parts = parts
  }

  async register(schedules: readonly ScheduleEntry[]): Promise<void> {
    this.#parts.checkOpen()
    for (const { name, expression, timezone } of schedules) {
      const known = this.#entries.get(name)
      if (known !== undefined && (known.expression !== expression || known.timezone !== timezone)) this.#withdraw(name)
      this.#entries.set(name, { name, expression, timezone })
    }
  }

  async enqueue(occurrences: readonly Occurrence[]): Promise<readonly boolean[]> {
    const { jobs, clock, watchers, checkOpen } = this.#parts
    checkOpen()
    const now = clock.now()
    watchers.notify()
    return occurrences.map(({ schedule, at, envelope }) => {
      const stored = this.#occurrencesOf(schedule)
      if (stored.has(at)) return false
      stored.set(at, envelope.id)
      return jobs.insert(envelope, now, schedule).stored
    })
  }

  async list(): Promise<readonly ScheduleRecord[]> {
    this.#parts.checkOpen()
    const now = this.#parts.clock.now()
    return [...this.#entries.values()]
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map((entry) => ({ ...entry, ...around(now, this.#instantsOf(entry.name)) }))
  }

  async forget(before: number, limit: number): Promise<number> {
    this.#parts.checkOpen()
    let forgotten = 0
    for (const [schedule, instants] of this.#occurrences) {
      for (const at of instants.keys()) {
        if (forgotten >= limit) return forgotten
        if (at >= before) continue
        instants.delete(at)
        this.#forgotten.set(schedule, Math.max(this.#forgotten.get(schedule) ?? at, at))
        forgotten++
      }
      if (instants.size === 0) this.#occurrences.delete(schedule)
    }
    return forgotten
  }

  /** Takes back what still waits for its time, so that the new expression can decide about those instants too. */
  #withdraw(name: string): void {
    const { jobs, clock } = this.#parts
    const instants = this.#occurrencesOf(name)
    for (const [at, id] of instants) {
      const job = jobs.get(id)
      if (at <= clock.now() || job?.state !== 'scheduled') continue
      jobs.delete(job)
      instants.delete(at)
    }
  }

  #instantsOf(schedule: string): readonly number[] {
    const forgotten = this.#forgotten.get(schedule)
    return [...(forgotten === undefined ? [] : [forgotten]), ...(this.#occurrences.get(schedule)?.keys() ?? [])]
  }

  #occurrencesOf(schedule: string): Map<number, string> {
    const instants = this.#occurrences.get(schedule) ?? new Map<number, string>()
    this.#occurrences.set(schedule, instants)
    return instants
  }
}

function around(now: number, instants: Iterable<number>): { lastAt: number | null; nextAt: number | null } {
  let lastAt: number | null = null
  let nextAt: number | null = null
  for (const at of instants) {
    if (at <= now) lastAt = Math.max(lastAt ?? at, at)
    else nextAt = Math.min(nextAt ?? at, at)
  }
  return { lastAt, nextAt }
}
