import type { Clock } from '../../core/clock.ts'
import { isSameSeal } from '../../envelope/envelope.ts'
import { isFinal } from '../job-state.ts'
import type { ClaimRules, Hold } from '../limits.ts'
import type {
  AmendAnswer,
  Amendment,
  HeldLease,
  JobFilter,
  JobLink,
  JobRecord,
  JobStore,
  MendReport,
  ProgressReport,
  RejectAnswer,
  Rejection,
  RemoveFilter,
  TreeCancellation,
  TreeCounts,
} from '../store.ts'
import type { Watchers } from '../watchers.ts'
import type { Endings } from './endings.ts'
import { amended, heldLeaseOf, type MemoryJob, recordOf, unresulted, withError } from './job.ts'
import type { Jobs } from './jobs.ts'
import type { Leases } from './leases.ts'
import type { Limits } from './limits.ts'
import type { Linking } from './linking.ts'
import type { MemoryNumbers } from './numbers.ts'
import type { MemorySchedules } from './schedules.ts'
import type { Trees } from './trees.ts'
import type { MemoryWorkers } from './workers.ts'

export interface MemoryStoreParts {
  readonly clock: Clock
  readonly jobs: Jobs
  readonly leases: Leases
  readonly limits: Limits
  readonly trees: Trees
  readonly linking: Linking
  readonly endings: Endings
  readonly paused: Set<string>
  readonly watchers: Watchers
  readonly schedules: MemorySchedules
  readonly workers: MemoryWorkers
  readonly numbers: MemoryNumbers
  /** Throws when the backend is closed. */
  readonly checkOpen: () => void
}

export class MemoryStore implements JobStore {
  readonly schedules: MemorySchedules
  readonly workers: MemoryWorkers
  readonly numbers: MemoryNumbers
  readonly #parts: MemoryStoreParts

  constructor(parts: MemoryStoreParts) {
    this.schedules = parts.schedules
    this.workers = parts.workers
    this.numbers = parts.numbers
    this.#parts = parts
  }

  async get(id: string): Promise<JobRecord | null> {
    const job = this.#open().jobs.get(id)
    return job === undefined ? null : recordOf(job)
  }

  async list(filter: JobFilter): Promise<readonly JobRecord[]> {
    const { jobs } = this.#open()
    const found: JobRecord[] = []
    if (filter.limit <= 0) return found
    for (const job of olderThan(filter.before, jobs)) {
      if (!matches(job, filter)) continue
      found.push(recordOf(job))
      if (found.length === filter.limit) break
    }
    return found
  }

  async counts() {
    return this.#open().jobs.counters.all()
  }

  async cancel(id: string) {
    const { jobs, leases, clock, watchers } = this.#open()
    const job = jobs.get(id)
    if (job === undefined) return 'missing'
    if (isFinal(job.state)) return 'ended'
    watchers.notify()
    if (job.state === 'running') {
      leases.requestCancel(job)
      return 'requested'
    }
    jobs.move(job, 'cancelled', { finishedAt: clock.now(), ...unresulted })
    return 'cancelled'
  }

  async reschedule(id: string, runAt: number) {
    const { jobs, clock, watchers } = this.#open()
    const job = jobs.get(id)
    if (job === undefined) return 'missing'
    if (isFinal(job.state)) return 'ended'
    if (job.state === 'running') return 'claimed'
    if (job.state === 'blocked') job.runAt = runAt
    else jobs.move(job, runAt > clock.now() ? 'scheduled' : 'ready', { runAt })
    watchers.notify()
    return 'moved'
  }

  async amend(amendments: readonly Amendment[]): Promise<readonly AmendAnswer[]> {
    const { watchers } = this.#open()
    watchers.notify()
    return amendments.map((amendment) => this.#amendOne(amendment))
  }

  async reject(rejections: readonly Rejection[]): Promise<readonly RejectAnswer[]> {
    const { watchers } = this.#open()
    watchers.notify()
    return rejections.map((rejection) => this.#rejectOne(rejection))
  }

  async retry(ids: readonly string[]) {
    const { watchers, linking } = this.#open()
    watchers.notify()
    const answers = ids.map((id) => this.#retryOne(id))
    // All are put back before it is looked at what they wait for: they may wait for each other.
    linking.relink(ids.filter((_, index) => answers[index] === 'requeued'))
    return answers
  }

  async remove(filter: RemoveFilter): Promise<number> {
    const { jobs } = this.#open()
    const doomed: MemoryJob[] = []
    for (const job of removalCandidates(filter, jobs)) {
      if (doomed.length >= filter.limit) break
      if (filter.exceptJobs?.includes(job.envelope.job)) continue
      if (matches(job, filter) && endedBefore(job, filter.finishedBefore)) doomed.push(job)
    }
    for (const job of doomed) jobs.delete(job)
    return doomed.length
  }

  async report(reports: readonly ProgressReport[]): Promise<void> {
    const { jobs } = this.#open()
    for (const { token, progress } of reports) {
      const job = jobs.byToken(token)
      if (job !== undefined) job.progress = progress
    }
  }

  async leases(owners: readonly string[]): Promise<readonly HeldLease[]> {
    return this.#open().leases.heldBy(owners).map(heldLeaseOf)
  }

  async leasesOf(ids: readonly string[]): Promise<readonly HeldLease[]> {
    return this.#open().leases.heldOf(ids).map(heldLeaseOf)
  }

  async links(id: string): Promise<readonly JobLink[]> {
    return this.#open().trees.links(id)
  }

  async tree(root: string): Promise<TreeCounts> {
    return this.#open().trees.counts(root)
  }

  async cancelTree(id: string): Promise<TreeCancellation> {
    const { trees, jobs, leases, endings, clock, watchers } = this.#open()
    watchers.notify()
    const family = trees.family(id)
    const running = family.filter(({ state }) => state === 'running')
    const waiting = family.filter(({ state }) => state !== 'running' && !isFinal(state))
    for (const job of running) leases.requestCancel(job)
    endings.together(() => {
      for (const job of waiting) jobs.move(job, 'cancelled', { finishedAt: clock.now(), ...unresulted })
    })
    const ended = family.length - running.length - waiting.length
    return { cancelled: waiting.length, requested: running.length, ended }
  }

  /** What ends and who is told of it are changed in one turn here: there is nothing to mend. */
  async mend(): Promise<MendReport> {
    this.#open()
    return { looked: 0, mended: 0 }
  }

  async pause(queue: string): Promise<void> {
    this.#open().paused.add(queue)
  }

  async resume(queue: string): Promise<void> {
    const { paused, watchers } = this.#open()
    if (paused.delete(queue)) watchers.notify()
  }

  async holds(id: string, rules: ClaimRules): Promise<readonly Hold[]> {
    const { jobs, limits, clock } = this.#open()
    const job = jobs.get(id)
    return job?.state === 'ready' ? limits.holds(job, rules, clock.now()) : []
  }

  async pausedQueues(): Promise<readonly string[]> {
    return [...this.#open().paused].sort()
  }

  #amendOne({ id, expected, envelope, inAnyState, keepsTime }: Amendment): AmendAnswer {
    const { jobs, clock } = this.#parts
    const job = jobs.get(id)
    if (job === undefined) return 'missing'
    if (isFinal(job.state) && inAnyState !== true) return 'ended'
    if (job.state === 'running' && inAnyState !== true) return 'claimed'
    if (expected !== null && !isSameSeal(expected, job.envelope)) return 'changed'
    const runAt = keepsTime === true ? job.runAt : envelope.runAt
    const next = amended(job, { ...envelope, runAt })
    if (job.state === 'running' || isFinal(job.state)) jobs.amendInPlace(job, next)
    else jobs.amend(job, next, job.state === 'blocked' ? 'blocked' : runAt > clock.now() ? 'scheduled' : 'ready')
    return 'amended'
  }

  #rejectOne({ id, expected, error }: Rejection): RejectAnswer {
    const { jobs, clock } = this.#parts
    const job = jobs.get(id)
    if (job === undefined) return 'missing'
    if (isFinal(job.state)) return 'ended'
    if (job.state === 'running') return 'claimed'
    if (!isSameSeal(expected, job.envelope)) return 'changed'
    jobs.move(job, 'dead', { finishedAt: clock.now(), reason: 'rejected', result: null, errors: withError(job, error) })
    return 'rejected'
  }

  #retryOne(id: string) {
    const { jobs, clock } = this.#parts
    const job = jobs.get(id)
    if (job === undefined) return 'missing'
    if (!isFinal(job.state)) return 'active'
    if ((jobs.uniqueKeys.holderOf(job.keyIndex, clock.now()) ?? id) !== id) return 'conflict'
    jobs.move(job, 'ready', {
      runAt: clock.now(),
      attempts: 0,
      rescues: 0,
      cancelRequested: false,
      begun: false,
      ...unresulted,
      progress: null,
      reason: null,
      startedAt: null,
      finishedAt: null,
    })
    jobs.uniqueKeys.take(job, clock.now())
    return 'requeued'
  }

  #open(): MemoryStoreParts {
    this.#parts.checkOpen()
    return this.#parts
  }
}

function olderThan(before: string | undefined, jobs: Jobs): Iterable<MemoryJob> {
  if (before === undefined) return jobs.arrivals.before(Number.POSITIVE_INFINITY)
  const last = jobs.get(before)
  return last === undefined ? olderById(before, jobs) : jobs.arrivals.before(last.arrival)
}

/** The job that ended the last page may be gone by now; ids sort by the time of their making. */
function* olderById(before: string, jobs: Jobs): Iterable<MemoryJob> {
  for (const job of jobs.arrivals.before(Number.POSITIVE_INFINITY)) if (job.envelope.id < before) yield job
}

function matches({ state, envelope, links }: MemoryJob, filter: Omit<JobFilter, 'before' | 'limit'>): boolean {
  return (
    (filter.root === undefined || filter.root === links?.root) &&
    (filter.state === undefined || filter.state === state) &&
    (filter.queue === undefined || filter.queue === envelope.queue) &&
    (filter.job === undefined || filter.job === envelope.job) &&
    (filter.group === undefined || filter.group === envelope.group)
  )
}

/** Those that ended first come first, so a limited removal takes the oldest. */
function* removalCandidates({ state, ids, finishedBefore }: RemoveFilter, jobs: Jobs): Iterable<MemoryJob> {
  if (ids !== undefined) {
    for (const id of new Set(ids)) {
      const job = jobs.get(id)
      if (job !== undefined) yield job
    }
    return
  }
  for (const job of jobs.ended(state)) {
    if (!endedBefore(job, finishedBefore)) return
    yield job
  }
}

function endedBefore(job: MemoryJob, instant: number | undefined): boolean {
  return instant === undefined || (job.finishedAt ?? 0) < instant
}
