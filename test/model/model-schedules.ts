import { type Ending, isEnded, type ModelJob, type ModelQueue } from './model-queue.ts'

export interface ModelSchedule {
  readonly expression: string
  readonly version: string
  /** Since when it is followed without a break. */
  readonly since: number
  readonly paused: boolean
}

export interface ModelOccurrence {
  readonly schedule: string
  readonly at: number
  readonly jobId: string
  /** When it was stored, or last seen to be due. */
  seenAt: number
  outcome: Ending | null
}

/** What is asked for before an occurrence is stored. */
export interface EnqueueTerms {
  readonly follows?: number | null
  readonly version?: string
  readonly registered?: true
}

/** Schedules in their plainest form: what was registered, and one list of all occurrences. */
export class ModelSchedules {
  readonly schedules = new Map<string, ModelSchedule>()
  readonly #queue: ModelQueue

  constructor(queue: ModelQueue) {
    this.#queue = queue
  }

  of(schedule: string): readonly ModelOccurrence[] {
    return this.#queue.occurrences.filter((each) => each.schedule === schedule).sort((a, b) => a.at - b.at)
  }

  at(schedule: string, instant: number): ModelOccurrence | undefined {
    return this.of(schedule).find(({ at }) => at === instant)
  }

  register(name: string, expression: string, version: string, now: number): void {
    const known = this.schedules.get(name)
    if (known?.expression === expression && known.version === version) return
    const since = known?.expression === expression ? known.since : now
    this.schedules.set(name, { expression, version, since, paused: known?.paused ?? false })
    this.#withdraw(name, now)
  }

  /** Whether it may be stored, as far as its schedule is concerned. */
  accepts(schedule: string, instant: number, { follows, version, registered }: EnqueueTerms): boolean {
    const known = this.schedules.get(schedule)
    const latest = this.of(schedule).at(-1)?.at ?? null
    return (
      this.at(schedule, instant) === undefined &&
      known?.paused !== true &&
      (known !== undefined || registered === undefined) &&
      (known === undefined || version === undefined || known.version === version) &&
      (follows === undefined || follows === latest)
    )
  }

  store(schedule: string, instant: number, job: ModelJob, now: number): void {
    this.#queue.insert(job, now)
    this.#queue.occurrences.push({ schedule, at: instant, jobId: job.id, seenAt: now, outcome: null })
  }

  pause(name: string, now: number): boolean {
    const known = this.schedules.get(name)
    if (known === undefined) return false
    if (!known.paused) this.#withdraw(name, now)
    this.schedules.set(name, { ...known, paused: true })
    return true
  }

  resume(name: string, now: number): boolean {
    const known = this.schedules.get(name)
    if (known === undefined) return false
    if (known.paused) this.schedules.set(name, { ...known, paused: false, since: now })
    return true
  }

  remove(name: string, now: number): boolean {
    if (!this.schedules.delete(name)) return false
    this.#withdraw(name, now)
    for (const { jobId } of this.#unbegun(name)) this.#queue.end(this.#queue.get(jobId), 'skipped', now)
    this.#forget(this.of(name))
    return true
  }

  /** Those that were stored late are there to make up for something. */
  skipWaiting(name: string, before: number, unseenOnly: boolean, now: number): number {
    const doomed = this.#unbegun(name).filter(
      ({ at, seenAt }) => at < before && seenAt < at && !(unseenOnly && this.isSeen(name, at, now)),
    )
    for (const { jobId } of doomed) this.#queue.end(this.#queue.get(jobId), 'skipped', now)
    return doomed.length
  }

  markSeen(name: string, instant: number, now: number): void {
    const occurrence = this.at(name, instant)
    if (occurrence !== undefined && instant <= now) occurrence.seenAt = Math.max(occurrence.seenAt, now)
  }

  /** One is there that is still to come, or it or a later one was stored, or seen, when it was due. */
  isSeen(name: string, instant: number, now: number): boolean {
    return this.of(name).some(({ at, seenAt }) => at > now || (at >= instant && seenAt >= instant))
  }

  /** The earliest one before it that was begun and has not ended. */
  unendedBefore(name: string, instant: number): number | null {
    const isUnended = (job: ModelJob | undefined) => job?.wasStarted === true && !isEnded(job)
    return this.of(name).find(({ at, jobId }) => at < instant && isUnended(this.#queue.jobs.get(jobId)))?.at ?? null
  }

  /** Takes back what waits for its time and was never begun, as if it had not been stored. */
  #withdraw(name: string, now: number): void {
    const waits = ({ state, runAt }: ModelJob) => state === 'scheduled' && runAt > now
    const doomed = this.#unbegun(name).filter(({ jobId }) => waits(this.#queue.get(jobId)))
    for (const { jobId } of doomed) this.#queue.withdraw(this.#queue.get(jobId), now)
    this.#forget(doomed)
  }

  #unbegun(name: string): readonly ModelOccurrence[] {
    return this.of(name).filter(({ jobId }) => {
      const job = this.#queue.jobs.get(jobId)
      return job !== undefined && (job.state === 'ready' || job.state === 'scheduled') && !job.wasStarted
    })
  }

  #forget(doomed: readonly ModelOccurrence[]): void {
    for (const each of doomed) this.#queue.occurrences.splice(this.#queue.occurrences.indexOf(each), 1)
  }
}
