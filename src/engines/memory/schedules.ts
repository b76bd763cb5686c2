import type {
  Neighbours,
  Occurrence,
  OccurrenceKey,
  OccurrenceRecord,
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

  async standings(names?: readonly string[]): Promise<readonly ScheduleStanding[]> {
    return this.#open().standings(names)
  }

  async revision(): Promise<number> {
    return this.#open().revision
  }

  async changes(since: number, limit: number): Promise<ScheduleChanges> {
    return this.#open().changes(since, limit)
  }

  async enqueue(occurrences: readonly Occurrence[]): Promise<readonly boolean[]> {
    return this.#open().enqueue(occurrences)
  }

  async find(keys: readonly OccurrenceKey[]): Promise<readonly (OccurrenceRecord | null)[]> {
    return this.#open().find(keys)
  }

  async neighbours(key: OccurrenceKey): Promise<Neighbours> {
    return this.#open().neighbours(key)
  }

  async markSeen(keys: readonly OccurrenceKey[]): Promise<void> {
    this.#open().markSeen(keys)
  }

  async recent(schedule: string, upTo: number, limit: number): Promise<readonly OccurrenceRecord[]> {
    return this.#open().recent(schedule, upTo, limit)
  }

  async skipWaiting(request: SkipRequest): Promise<number> {
    return this.#open().skipWaiting(request)
  }

  async pause(name: string): Promise<boolean> {
    return this.#open().pause(name)
  }

  async resume(name: string): Promise<boolean> {
    return this.#open().resume(name)
  }

  async remove(name: string): Promise<boolean> {
    return this.#open().remove(name)
  }

  async list(filter: ScheduleFilter = {}): Promise<readonly ScheduleRecord[]> {
    return this.#open().list(filter)
  }

  async forget(before: number, limit: number): Promise<number> {
    return this.#open().forget(before, limit)
  }

  #open(): Schedules {
    this.#checkOpen()
    return this.#rules
  }
}
