import type { Clock } from '../../core/clock.ts'
import type {
  Neighbours,
  Occurrence,
  OccurrenceKey,
  OccurrenceRecord,
  ScheduleEntry,
  ScheduleRecord,
  ScheduleStanding,
  ScheduleStore,
  SkipRequest,
} from '../schedule-store.ts'
import type { Watchers } from '../watchers.ts'
import type { MemoryJob } from './job.ts'
import type { Jobs } from './jobs.ts'
import { type MemoryOccurrence, Timeline } from './timeline.ts'

/** Why runs end that nobody began before their schedule was removed. */
const removed = 'its schedule was removed'

export interface MemorySchedulesParts {
  readonly clock: Clock
  readonly jobs: Jobs
  readonly watchers: Watchers
  readonly checkOpen: () => void
}

export class MemorySchedules implements ScheduleStore {
  readonly #parts: MemorySchedulesParts
  readonly #schedules = new Map<string, MemorySchedule>()
  /** Also of schedules that were never registered. */
  readonly #timelines = new Map<string, Timeline>()
  #revision = 0

  constructor(parts: MemorySchedulesParts) {
    this.#parts = parts
  }

  async register(entries: readonly ScheduleEntry[]): Promise<void> {
    const { clock } = this.#open()
    for (const { name, expression, timezone, version } of entries) {
      const known = this.#schedules.get(name)
      const hasSameInstants = known?.expression === expression && known.timezone === timezone
      if (hasSameInstants && known.version === version) continue
      const since = hasSameInstants ? known.since : clock.now()
      this.#change({ name, expression, timezone, version, since, paused: known?.paused ?? false })
      this.#withdraw(name)
    }
  }

  async standings(names?: readonly string[]): Promise<readonly ScheduleStanding[]> {
    this.#open()
    const wanted = names === undefined ? undefined : new Set(names)
    return this.#sorted()
      .filter(({ name }) => wanted?.has(name) ?? true)
      .map(({ name, version, since, paused }) => {
        const latest = this.#timelines.get(name)?.latest?.record() ?? null
        return { name, version, since, paused, latest }
      })
  }

  async revision(): Promise<number> {
    this.#open()
    return this.#revision
  }

  async enqueue(occurrences: readonly Occurrence[]): Promise<readonly boolean[]> {
    const { watchers } = this.#open()
    watchers.notify()
    return occurrences.map((occurrence) => this.#isWanted(occurrence) && this.#enqueueOne(occurrence))
  }

  async find(keys: readonly OccurrenceKey[]): Promise<readonly (OccurrenceRecord | null)[]> {
    this.#open()
    return keys.map(({ schedule, at }) => this.#timelines.get(schedule)?.at(at)?.record() ?? null)
  }

  async neighbours({ schedule, at }: OccurrenceKey): Promise<Neighbours> {
    const { clock, jobs } = this.#open()
    const timeline = this.#timelines.get(schedule)
    const begun = [...(timeline?.unended ?? [])].filter((each) => each.at < at && isBegun(jobs.get(each.jobId)))
    return {
      unended: begun.length > 0 ? Math.min(...begun.map((each) => each.at)) : null,
      seen: timeline?.isSeen(at, clock.now()) ?? false,
    }
  }

  async markSeen(keys: readonly OccurrenceKey[]): Promise<void> {
    const { clock } = this.#open()
    for (const { schedule, at } of keys) this.#timelines.get(schedule)?.at(at)?.markSeen(clock.now())
  }

  async recent(schedule: string, upTo: number, limit: number): Promise<readonly OccurrenceRecord[]> {
    this.#open()
    return (
      this.#timelines
        .get(schedule)
        ?.recent(upTo, limit)
        .map((each) => each.record()) ?? []
    )
  }

  async skipWaiting({ schedule, before, unseenOnly, why }: SkipRequest): Promise<number> {
    const now = this.#open().clock.now()
    const timeline = this.#timelineOf(schedule)
    return this.#skip(
      schedule,
      why,
      ({ at, storedAt }) => at < before && storedAt < at && !(unseenOnly && timeline.isSeen(at, now)),
    )
  }

  async pause(name: string): Promise<boolean> {
    this.#open()
    const known = this.#schedules.get(name)
    if (known === undefined) return false
    if (known.paused) return true
    this.#change({ ...known, paused: true })
    this.#withdraw(name)
    return true
  }

  /** One that is not paused was followed without a break, and still is. */
  async resume(name: string): Promise<boolean> {
    const { clock } = this.#open()
    const known = this.#schedules.get(name)
    if (known === undefined) return false
    if (known.paused) this.#change({ ...known, paused: false, since: clock.now() })
    return true
  }

  async remove(name: string): Promise<boolean> {
    this.#open()
    if (!this.#schedules.delete(name)) return false
    this.#withdraw(name)
    this.#skip(name, removed, () => true)
    this.#timelines.delete(name)
    this.#revision++
    return true
  }

  async list(): Promise<readonly ScheduleRecord[]> {
    const now = this.#open().clock.now()
    return this.#sorted().map((schedule) => {
      const { last, next } = this.#timelineOf(schedule.name).around(now)
      return { ...schedule, last: last?.record() ?? null, nextAt: next?.at ?? null }
    })
  }

  async forget(before: number, limit: number): Promise<number> {
    this.#open()
    let forgotten = 0
    for (const timeline of this.#timelines.values()) forgotten += timeline.forget(before, limit - forgotten)
    return forgotten
  }

  #isWanted({ schedule, at, follows, version }: Occurrence): boolean {
    const timeline = this.#timelineOf(schedule)
    const registered = this.#schedules.get(schedule)
    if (timeline.at(at) !== undefined || registered?.paused === true) return false
    if (version !== undefined && registered !== undefined && registered.version !== version) return false
    return follows === undefined || follows === (timeline.latest?.at ?? null)
  }

  /** An occurrence whose job was not stored, because another one has its unique key, was not stored either. */
  #enqueueOne({ schedule, at, envelope }: Occurrence): boolean {
    const { jobs, clock } = this.#parts
    const timeline = this.#timelineOf(schedule)
    const occurrence = timeline.add(at, envelope.id, clock.now())
    const { stored } = jobs.insert(envelope, clock.now(), occurrence)
    if (!stored) timeline.remove(new Set([occurrence]))
    return stored
  }

  /** Takes back what waits for its time and was never begun, as if it had not been stored. */
  #withdraw(name: string): void {
    const { jobs, clock } = this.#parts
    const now = clock.now()
    const doomed = this.#unbegun(name).filter(({ state, runAt }) => state === 'scheduled' && runAt > now)
    for (const job of doomed) jobs.delete(job)
    this.#timelineOf(name).remove(new Set(doomed.flatMap(({ occurrence }) => occurrence ?? [])))
  }

  #skip(schedule: string, why: string, isMeant: (occurrence: MemoryOccurrence) => boolean): number {
    const { jobs, clock } = this.#parts
    const doomed = this.#unbegun(schedule).filter(({ occurrence }) => occurrence !== null && isMeant(occurrence))
    for (const job of doomed) jobs.move(job, 'skipped', { reason: why, finishedAt: clock.now() })
    return doomed.length
  }

  /** Jobs that wait and were never claimed. */
  #unbegun(schedule: string): readonly MemoryJob[] {
    const unended = [...(this.#timelines.get(schedule)?.unended ?? [])]
    return unended
      .flatMap(({ jobId }) => this.#parts.jobs.get(jobId) ?? [])
      .filter(({ state, startedAt }) => (state === 'ready' || state === 'scheduled') && startedAt === null)
  }

  #change(schedule: MemorySchedule): void {
    this.#schedules.set(schedule.name, schedule)
    this.#revision++
  }

  #sorted(): readonly MemorySchedule[] {
    return [...this.#schedules.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  #timelineOf(schedule: string): Timeline {
    const timeline = this.#timelines.get(schedule) ?? new Timeline(schedule)
    this.#timelines.set(schedule, timeline)
    return timeline
  }

  #open(): MemorySchedulesParts {
    this.#parts.checkOpen()
    return this.#parts
  }
}

function isBegun(job: MemoryJob | undefined): boolean {
  return job !== undefined && job.startedAt !== null
}

type MemorySchedule = Omit<ScheduleRecord, 'last' | 'nextAt'>
