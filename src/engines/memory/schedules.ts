import type {
  Neighbours,
  Occurrence,
  OccurrenceKey,
  OccurrenceQuery,
  OccurrenceRecord,
  ScheduleChange,
  ScheduleChanges,
  ScheduleEntry,
  ScheduleFilter,
  ScheduleRecord,
  ScheduleStanding,
  ScheduleStore,
  SkipRequest,
} from '../../queue/contract/schedule-store.ts'
import type { Schedules } from '../../queue/rules/schedules/schedules.ts'

export class MemorySchedules implements ScheduleStore {
  readonly #rules: Schedules
  readonly #checkOpen: () => void

  /** `checkOpen` throws when the backend is closed. */
  constructor(rules: Schedules, checkOpen: () => void) {
    this.#rules = rules
    this.#checkOpen = checkOpen
  }

  async register(entries: readonly ScheduleEntry[]): Promise<void> {
    this.#open().register(entries)
  }

  async change(name: string, change: ScheduleChange): Promise<boolean> {
    return this.#open().change(name, change)
  }

  async list(filter: ScheduleFilter = {}): Promise<readonly ScheduleRecord[]> {
    return this.#open().list(filter)
  }

  async standings(names?: readonly string[]): Promise<readonly ScheduleStanding[]> {
    return this.#open().standings(names)
  }

  async changes(since: number, limit: number): Promise<ScheduleChanges> {
    return this.#open().changes(since, limit)
  }

  async enqueue(occurrences: readonly Occurrence[]): Promise<readonly boolean[]> {
    return this.#open().enqueue(occurrences)
  }

  async occurrences(query: OccurrenceQuery): Promise<readonly (OccurrenceRecord | null)[]> {
    return this.#open().occurrences(query)
  }

  async neighbours(key: OccurrenceKey): Promise<Neighbours> {
    return this.#open().neighbours(key)
  }

  async markSeen(keys: readonly OccurrenceKey[]): Promise<void> {
    this.#open().markSeen(keys)
  }

  async skipWaiting(request: SkipRequest): Promise<number> {
    return this.#open().skipWaiting(request)
  }

  #open(): Schedules {
    this.#checkOpen()
    return this.#rules
  }
}
