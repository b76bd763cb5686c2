import { byCodePoint } from '../../../core/text/text-order.ts'
import type { Clock } from '../../../core/time/clock.ts'
import type { Watchers } from '../../backend/watchers.ts'
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
  SkipRequest,
  StoredDefinition,
} from '../../contract/schedule-store.ts'
import type { StoredJob } from '../jobs/job.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { ScheduleChangeLog } from './schedule-changes.ts'
import { type StoredOccurrence, Timeline } from './timeline.ts'

/** Why runs end that were not begun before their schedule was removed. */
const removed = 'its schedule was removed'

/** A schedule as it is stored. */
export type StoredSchedule = Omit<ScheduleRecord, 'last' | 'nextAt'>

export interface SchedulesParts {
  readonly clock: Pick<Clock, 'now'>
  readonly jobs: Jobs
  readonly watchers: Pick<Watchers, 'notify'>
  readonly schedules?: Map<string, StoredSchedule> | undefined
  /** Includes schedules that were never registered. */
  readonly timelines?: Map<string, Timeline> | undefined
}

/** Implements `ScheduleStore` synchronously. */
export class Schedules {
  readonly #parts: SchedulesParts
  readonly #schedules: Map<string, StoredSchedule>
  readonly #timelines: Map<string, Timeline>
  readonly #changes = new ScheduleChangeLog()

  constructor(parts: SchedulesParts) {
    this.#parts = parts
    this.#schedules = parts.schedules ?? new Map()
    this.#timelines = parts.timelines ?? new Map()
  }

  /** The registered schedules and the stored occurrences of each name, for a queue that takes them over. */
  get all(): { readonly schedules: readonly StoredSchedule[]; readonly timelines: ReadonlyMap<string, Timeline> } {
    return { schedules: this.#sorted(), timelines: this.#timelines }
  }

  get(name: string): StoredSchedule | undefined {
    return this.#schedules.get(name)
  }

  timeline(name: string): Timeline {
    return this.#timelineOf(name)
  }

  /** Stores a schedule from another queue. Withdraws nothing. */
  restore(schedule: StoredSchedule): void {
    this.#change(schedule)
  }

  register(entries: readonly ScheduleEntry[]): void {
    for (const entry of entries) {
      if (this.isRegistered(entry)) continue
      const { name, expression, timezone, version, definition = null } = entry
      const known = this.#schedules.get(name)
      const since = known !== undefined && hasSameInstants(known, entry) ? known.since : this.#parts.clock.now()
      this.#change({ name, expression, timezone, version, definition, since, paused: known?.paused ?? false })
      this.#withdraw(name)
    }
  }

  /** Whether registering it changes nothing. */
  isRegistered(entry: ScheduleEntry): boolean {
    const known = this.#schedules.get(entry.name)
    if (known === undefined || !hasSameInstants(known, entry) || known.version !== entry.version) return false
    return isSameDefinition(known.definition, entry.definition ?? null)
  }

  standings(names?: readonly string[]): readonly ScheduleStanding[] {
    const wanted = names === undefined ? undefined : new Set(names)
    return this.#sorted(({ name }) => wanted?.has(name) ?? true).map(({ name, version, since, paused }) => {
      const latest = this.#timelines.get(name)?.latest?.record() ?? null
      return { name, version, since, paused, latest }
    })
  }

  /** The schedules that were changed or removed, in the order of their last changes. */
  get changed(): readonly string[] {
    return this.#changes.names
  }

  get revision(): number {
    return this.#changes.revision
  }

  changes(since: number, limit: number): ScheduleChanges {
    return this.#changes.after(since, limit, (name) => this.#schedules.get(name))
  }

  enqueue(occurrences: readonly Occurrence[]): readonly boolean[] {
    const { watchers } = this.#parts
    watchers.notify()
    return occurrences.map((occurrence) => this.#isWanted(occurrence) && this.#enqueueOne(occurrence))
  }

  occurrences(query: OccurrenceQuery): readonly (OccurrenceRecord | null)[] {
    if ('keys' in query) return query.keys.map(({ schedule, at }) => this.#timelines.get(schedule)?.at(at)?.record() ?? null)
    const { schedule, upTo, limit } = query
    const recent = this.#timelines.get(schedule)?.recent(upTo, limit) ?? []
    return recent.map((each) => each.record())
  }

  neighbours({ schedule, at }: OccurrenceKey): Neighbours {
    const { clock, jobs } = this.#parts
    const timeline = this.#timelines.get(schedule)
    const begun = [...(timeline?.unended ?? [])].filter((each) => each.at < at && isBegun(jobs.get(each.jobId)))
    return {
      unended: begun.length > 0 ? Math.min(...begun.map((each) => each.at)) : null,
      seen: timeline?.isSeen(at, clock.now()) ?? false,
    }
  }

  markSeen(keys: readonly OccurrenceKey[]): void {
    const { clock } = this.#parts
    for (const { schedule, at } of keys) this.#timelines.get(schedule)?.at(at)?.markSeen(clock.now())
  }

  skipWaiting({ schedule, before, unseenOnly, why }: SkipRequest): number {
    const now = this.#parts.clock.now()
    const timeline = this.#timelineOf(schedule)
    return this.#skip(
      schedule,
      why,
      ({ at, storedAt }) => at < before && storedAt < at && !(unseenOnly && timeline.isSeen(at, now)),
    )
  }

  change(name: string, change: ScheduleChange): boolean {
    switch (change) {
      case 'pause':
        return this.#pause(name)
      case 'resume':
        return this.#resume(name)
      case 'remove':
        return this.#remove(name)
    }
  }

  #pause(name: string): boolean {
    const known = this.#schedules.get(name)
    if (known === undefined) return false
    if (known.paused) return true
    this.#change({ ...known, paused: true })
    this.#withdraw(name)
    return true
  }

  /** A schedule that is not paused has been followed without a break, and still is. */
  #resume(name: string): boolean {
    const { clock } = this.#parts
    const known = this.#schedules.get(name)
    if (known === undefined) return false
    if (known.paused) this.#change({ ...known, paused: false, since: clock.now() })
    return true
  }

  #remove(name: string): boolean {
    if (!this.#schedules.delete(name)) return false
    this.#withdraw(name)
    this.#skip(name, removed, () => true)
    this.#timelines.delete(name)
    this.#changes.remove(name, this.#parts.clock.now())
    return true
  }

  list({ names, prefix = '' }: ScheduleFilter = {}): readonly ScheduleRecord[] {
    const now = this.#parts.clock.now()
    const isMeant = ({ name }: StoredSchedule) => (names?.includes(name) ?? true) && name.startsWith(prefix)
    return this.#sorted(isMeant).map((schedule) => {
      const { last, next } = this.#timelineOf(schedule.name).around(now)
      return { ...schedule, last: last?.record() ?? null, nextAt: next?.at ?? null }
    })
  }

  forget(before: number, limit: number): number {
    this.#changes.forget(before)
    let forgotten = 0
    for (const timeline of this.#timelines.values()) forgotten += timeline.forget(before, limit - forgotten)
    return forgotten
  }

  #isWanted({ schedule, at, follows, version, registered: isRequired }: Occurrence): boolean {
    const timeline = this.#timelineOf(schedule)
    const registered = this.#schedules.get(schedule)
    if (timeline.at(at) !== undefined || registered?.paused === true) return false
    if (registered === undefined && isRequired) return false
    if (version !== undefined && registered !== undefined && registered.version !== version) return false
    return follows === undefined || follows === (timeline.latest?.at ?? null)
  }

  /** If the job is not stored because another one has its unique key, neither is the occurrence. */
  #enqueueOne({ schedule, at, envelope }: Occurrence): boolean {
    const { jobs, clock } = this.#parts
    const timeline = this.#timelineOf(schedule)
    const occurrence = timeline.add(at, envelope.id, clock.now())
    const { stored } = jobs.insert(envelope, clock.now(), occurrence)
    if (!stored) timeline.remove(new Set([occurrence]))
    return stored
  }

  /** Deletes occurrences that are not due yet and were never begun, as if they had not been stored. */
  #withdraw(name: string): void {
    const { jobs, clock } = this.#parts
    const now = clock.now()
    const doomed = this.#unbegun(name).filter(({ state, runAt }) => state === 'scheduled' && runAt > now)
    for (const job of doomed) jobs.delete(job)
    this.#timelineOf(name).remove(new Set(doomed.flatMap(({ occurrence }) => occurrence ?? [])))
  }

  #skip(schedule: string, why: string, isMeant: (occurrence: StoredOccurrence) => boolean): number {
    const { jobs, clock } = this.#parts
    const doomed = this.#unbegun(schedule).filter(({ occurrence }) => occurrence !== null && isMeant(occurrence))
    for (const job of doomed) jobs.move(job, 'skipped', { reason: why, finishedAt: clock.now() })
    return doomed.length
  }

  /** Waiting jobs that were never claimed. */
  #unbegun(schedule: string): readonly StoredJob[] {
    const unended = [...(this.#timelines.get(schedule)?.unended ?? [])]
    return unended
      .flatMap(({ jobId }) => this.#parts.jobs.get(jobId) ?? [])
      .filter(({ state, startedAt }) => (state === 'ready' || state === 'scheduled') && startedAt === null)
  }

  #change(schedule: StoredSchedule): void {
    this.#schedules.set(schedule.name, schedule)
    this.#changes.add(schedule.name)
  }

  #sorted(isMeant: (schedule: StoredSchedule) => boolean = () => true): readonly StoredSchedule[] {
    return [...this.#schedules.values()].filter(isMeant).sort((a, b) => byCodePoint(a.name, b.name))
  }

  #timelineOf(schedule: string): Timeline {
    const timeline = this.#timelines.get(schedule) ?? new Timeline(schedule)
    this.#timelines.set(schedule, timeline)
    return timeline
  }
}

function isBegun(job: StoredJob | undefined): boolean {
  return job !== undefined && job.startedAt !== null
}

/** Whether two definitions of a schedule mean the same instants. */
export function hasSameInstants(one: Instants, other: Instants): boolean {
  return one.expression === other.expression && one.timezone === other.timezone
}

type Instants = Pick<ScheduleEntry, 'expression' | 'timezone'>

function isSameDefinition(one: StoredDefinition | null, other: StoredDefinition | null): boolean {
  return one?.text === other?.text && one?.signature === other?.signature
}
