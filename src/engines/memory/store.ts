import type { Answer } from '../../core/answer.ts'
import { byCodePoint } from '../../core/text/text-order.ts'
import type { Clock } from '../../core/time/clock.ts'
import { tagsOf } from '../../envelope/envelope.ts'
import type { Watchers } from '../../queue/backend/watchers.ts'
import { isFinal } from '../../queue/contract/job-state.ts'
import type { ClaimRules, Hold } from '../../queue/contract/limits.ts'
import { isOverall, summedCounts } from '../../queue/contract/queue-counts.ts'
import type {
  AmendAnswer,
  Cancellation,
  CancelOptions,
  CountOptions,
  HeldLease,
  JobChange,
  JobCount,
  JobFilter,
  JobLink,
  JobRecord,
  JobStore,
  LeaseFilter,
  Pausable,
  Paused,
  ProgressReport,
  RemoveFilter,
  SweepReport,
  SweepRequest,
} from '../../queue/contract/store.ts'
import { refuseWrongLimit } from '../../queue/model/list-limit.ts'
import { isInPlace } from '../../queue/model/place-filter.ts'
import type { Rules } from '../../queue/rules/assembly.ts'
import { pausedIn, pausedKey } from '../../queue/rules/claiming/pausing.ts'
import { heldLeaseOf, recordOf, type StoredJob } from '../../queue/rules/jobs/job.ts'
import type { Jobs } from '../../queue/rules/jobs/jobs.ts'
import type { Schedules } from '../../queue/rules/schedules/schedules.ts'
import type { MemoryEvents } from './events.ts'
import type { Immediate } from './guarded.ts'
import type { MemoryNumbers } from './keys/numbers.ts'
import type { MemoryLogs } from './logs.ts'
import type { MemoryRollups } from './rollups.ts'
import type { MemoryWorkers } from './workers.ts'

export interface MemoryStoreParts
  extends Pick<Rules, 'jobs' | 'leases' | 'limits' | 'trees' | 'managing' | 'schedules' | 'once'> {
  readonly clock: Clock
  readonly paused: Set<string>
  readonly watchers: Watchers
  readonly workers: MemoryWorkers
  readonly numbers: MemoryNumbers
  readonly logs: MemoryLogs
  readonly rollups: MemoryRollups
  readonly events: MemoryEvents
}

export class MemoryStore implements Immediate<JobStore> {
  readonly schedules: Schedules
  readonly workers: MemoryWorkers
  readonly numbers: MemoryNumbers
  readonly logs: MemoryLogs
  readonly rollups: MemoryRollups
  readonly events: MemoryEvents
  readonly #parts: MemoryStoreParts

  constructor(parts: MemoryStoreParts) {
    this.schedules = parts.schedules
    this.workers = parts.workers
    this.numbers = parts.numbers
    this.logs = parts.logs
    this.rollups = parts.rollups
    this.events = parts.events
    this.#parts = parts
  }

  get(id: string): JobRecord | null {
    const job = this.#parts.jobs.get(id)
    return job === undefined ? null : recordOf(job)
  }

  list(filter: JobFilter): readonly JobRecord[] {
    const { jobs } = this.#parts
    const found: JobRecord[] = []
    refuseWrongLimit(filter, 'list()')
    if (filter.limit <= 0) return found
    for (const job of candidates(filter, jobs)) {
      if (!matches(job, filter)) continue
      found.push(recordOf(job))
      if (found.length === filter.limit) break
    }
    return found
  }

  counts(options: CountOptions = {}): readonly JobCount[] {
    const { jobs, trees } = this.#parts
    if (options.root !== undefined) return [trees.counts(options.root)]
    if (isOverall(options)) return [jobs.counters.together()]
    const counts = countsByPlace(options, jobs)
    return options.isSum === true ? [summedCounts(counts, options)] : counts
  }

  cancel(id: string, options?: CancelOptions): Cancellation {
    return this.#parts.managing.cancel(id, options)
  }

  amend(changes: readonly JobChange[]): readonly AmendAnswer[] {
    return this.#parts.managing.amend(changes)
  }

  retry(ids: readonly string[]) {
    return this.#parts.managing.retry(ids)
  }

  holders(ids: readonly string[]): readonly (string | null)[] {
    return this.#parts.managing.holders(ids)
  }

  remove(filter: RemoveFilter): number {
    refuseWrongLimit(filter, 'remove()')
    const { jobs } = this.#parts
    const doomed: StoredJob[] = []
    for (const job of removalCandidates(filter, jobs)) {
      if (doomed.length >= filter.limit) break
      if (filter.exceptJobs?.includes(job.envelope.job)) continue
      if (matches(job, filter) && endedBefore(job, filter.finishedBefore)) doomed.push(job)
    }
    for (const job of doomed) jobs.delete(job)
    return doomed.length
  }

  report(reports: readonly ProgressReport[]): void {
    const { jobs } = this.#parts
    for (const { token, progress } of reports) {
      const job = jobs.byToken(token)
      if (job !== undefined) job.progress = progress
    }
  }

  leases(filter: LeaseFilter): readonly HeldLease[] {
    const { leases } = this.#parts
    return ('ids' in filter ? leases.heldOf(filter.ids) : leases.heldBy(filter.owners)).map(heldLeaseOf)
  }

  links(id: string): readonly JobLink[] {
    return this.#parts.trees.links(id)
  }

  setPaused(target: Pausable, isPaused: boolean): void {
    const { paused, watchers } = this.#parts
    if (isPaused) paused.add(pausedKey(target))
    else if (paused.delete(pausedKey(target))) watchers.notify()
  }

  paused(): Paused {
    return pausedIn([...this.#parts.paused].sort(byCodePoint))
  }

  holds(id: string, rules: ClaimRules): readonly Hold[] {
    const { jobs, limits, clock } = this.#parts
    const job = jobs.get(id)
    return job?.state === 'ready' ? limits.holds(job, rules, clock.now()) : []
  }

  /**
   * There are no waits to resolve, because a job's end and the notification of its dependents happen in the same synchronous step;
   * and logs are removed together with their job.
   */
  async sweep(request: SweepRequest): Promise<SweepReport> {
    const swept = await this.#sweep(request)
    return { looked: swept, changed: swept }
  }

  #sweep(request: SweepRequest): Answer<number> {
    const { schedules, once, jobs, clock } = this.#parts
    const now = clock.now()
    switch (request.part) {
      case 'waits':
      case 'logs':
        return 0
      case 'keys':
        return once.sweep(request.limit, now) + jobs.uniqueKeys.sweep(request.limit, now)
      case 'rollups':
        return this.rollups.sweep()
      case 'occurrences':
        return schedules.forget(request.before, request.limit)
    }
  }
}

function countsByPlace({ oldest = false, queue, job }: CountOptions, { counters, lanes }: Jobs): readonly JobCount[] {
  const counts = queue === undefined && job === undefined ? counters.all() : counters.some(queue, job)
  return oldest ? counts.map((each) => ({ ...each, oldestReadyAt: lanes.oldestReadyAt(each.queue, each.job) })) : counts
}

/** All jobs that may match, newest first. Few that ended in the wanted state are sorted. */
function candidates({ before, state, ...filter }: JobFilter, jobs: Jobs): Iterable<StoredJob> {
  const list = jobs.lists.listOf(filter)
  const ended = state !== undefined && isFinal(state) ? jobs.ended(state) : null
  if (ended === null || ended.size * sortingCost >= list.length) return list.before(before)
  return [...ended].filter(({ envelope }) => before === undefined || envelope.id < before).sort((a, b) => (byId(a, b) ? 1 : -1))
}

/** Sorting a job costs about as much as looking at this many. */
const sortingCost = 10

function matches({ state, envelope, links }: StoredJob, filter: Omit<JobFilter, 'before' | 'limit'>): boolean {
  return (
    (filter.root === undefined || filter.root === links?.root) &&
    (filter.isLinked === undefined || links != null) &&
    isInPlace(state, envelope, filter) &&
    (filter.tag === undefined || tagsOf(envelope.identity).includes(filter.tag))
  )
}

/**
 * The earliest to end come first, so that a limited removal takes the oldest. Jobs that ended at the same instant are in the order
 * of their ids.
 */
function* removalCandidates({ state, ids, finishedBefore }: RemoveFilter, jobs: Jobs): Iterable<StoredJob> {
  if (ids !== undefined) {
    yield* [...new Set(ids)].flatMap((id) => jobs.get(id) ?? []).sort(byEnd)
    return
  }
  let together: StoredJob[] = []
  for (const job of jobs.ended(state)) {
    if (!endedBefore(job, finishedBefore)) break
    if (together[0]?.finishedAt !== job.finishedAt) {
      yield* together.sort(byEnd)
      together = []
    }
    together.push(job)
  }
  yield* together.sort(byEnd)
}

function byId(a: StoredJob, b: StoredJob): boolean {
  return a.envelope.id < b.envelope.id
}

function byEnd(a: StoredJob, b: StoredJob): number {
  return (a.finishedAt ?? 0) - (b.finishedAt ?? 0) || (byId(a, b) ? -1 : 1)
}

function endedBefore(job: StoredJob, instant: number | undefined): boolean {
  return instant === undefined || (job.finishedAt ?? 0) < instant
}
