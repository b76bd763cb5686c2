import { pausedJobKey, pausedJobsIn, pausedQueuesIn } from '../../../queue/claiming/pausing.ts'
import type { ClaimRules, Hold } from '../../../queue/contract/limits.ts'
import type {
  AmendAnswer,
  Amendment,
  CountOptions,
  HeldLease,
  JobCount,
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
} from '../../../queue/contract/store.ts'
import type { Managing } from '../../../queue/rules/managing.ts'
import { idOf } from '../units/head.ts'
import type { LoadedQueue } from '../units/loaded-queue.ts'
import { field } from '../units/needs.ts'
import { Counting } from './counting.ts'
import { RedisEvents } from './events.ts'
import { Looking } from './jobs.ts'
import { RedisLogs } from './logs.ts'
import { RedisNumbers } from './numbers.ts'
import { RedisRollups } from './rollups.ts'
import { RedisSchedules } from './schedules.ts'
import type { RedisStoreParts } from './store-parts.ts'
import { RedisWorkers } from './workers.ts'

/** Maximum number of jobs removed by one commit. */
const removedAtOnce = 200

export class RedisStore implements JobStore {
  readonly schedules: RedisSchedules
  readonly workers: RedisWorkers
  readonly numbers: RedisNumbers
  readonly logs: RedisLogs
  readonly rollups: RedisRollups
  readonly events: RedisEvents
  readonly #parts: RedisStoreParts
  readonly #looking: Looking
  readonly #counting: Counting

  constructor(parts: RedisStoreParts) {
    this.#parts = parts
    this.#looking = new Looking(parts.server, parts.units)
    this.#counting = new Counting(parts.server)
    this.schedules = new RedisSchedules(parts)
    this.workers = new RedisWorkers(parts)
    this.numbers = new RedisNumbers(parts)
    this.logs = new RedisLogs(parts)
    this.rollups = new RedisRollups(parts)
    this.events = new RedisEvents(parts)
  }

  async get(id: string): Promise<JobRecord | null> {
    await this.#parts.ready()
    return (await this.#looking.records([id]))[0] ?? null
  }

  async list(filter: JobFilter): Promise<readonly JobRecord[]> {
    await this.#parts.ready()
    return this.#looking.list(filter)
  }

  async counts(options?: CountOptions): Promise<readonly JobCount[]> {
    await this.#parts.ready()
    return this.#counting.counts(options)
  }

  /** Part of `PatternClaims`. */
  async readyOf(jobs: readonly string[]): Promise<readonly string[]> {
    await this.#parts.ready()
    return this.#counting.readyOf(jobs)
  }

  cancel(id: string) {
    return this.#manage([id], (managing) => managing.cancel(id))
  }

  reschedule(id: string, runAt: number) {
    return this.#manage([id], (managing) => managing.reschedule(id, runAt))
  }

  amend(amendments: readonly Amendment[]): Promise<readonly AmendAnswer[]> {
    const ids = amendments.map(({ id }) => id)
    return this.#manage(ids, (managing) => managing.amend(amendments), true)
  }

  reject(rejections: readonly Rejection[]): Promise<readonly RejectAnswer[]> {
    const ids = rejections.map(({ id }) => id)
    return this.#manage(ids, (managing) => managing.reject(rejections), true)
  }

  retry(ids: readonly string[]) {
    return this.#manage(ids, (managing) => managing.retry(ids))
  }

  cancelTree(id: string): Promise<TreeCancellation> {
    return this.#manage([id], (managing) => managing.cancelTree(id))
  }

  async remove(filter: RemoveFilter): Promise<number> {
    await this.#parts.ready()
    const ids = await this.#looking.ended(filter)
    let removed = 0
    for (let start = 0; start < ids.length; start += removedAtOnce) {
      removed += await this.#removeThese(ids.slice(start, start + removedAtOnce), filter)
    }
    return removed
  }

  async report(reports: readonly ProgressReport[]): Promise<void> {
    await this.#parts.ready()
    const ids = reports.map(({ token }) => idOf(token))
    await this.#parts.units.run((queue) => {
      queue.want(ids)
      for (const { token, progress } of reports) {
        const job = queue.rules.jobs.byToken(token)
        if (job !== undefined) job.progress = progress
      }
      return { answer: undefined }
    })
  }

  async leases(owners: readonly string[]): Promise<readonly HeldLease[]> {
    await this.#parts.ready()
    const ids = await this.#looking.ownedBy(owners)
    return this.#looking.leases(ids, ({ owner }) => owners.includes(owner as string))
  }

  async leasesOf(ids: readonly string[]): Promise<readonly HeldLease[]> {
    await this.#parts.ready()
    return this.#looking.leases(ids, () => true)
  }

  links(id: string): Promise<readonly JobLink[]> {
    return this.#look((queue) => {
      const targets = queue.rules.jobs.get(id)?.links?.edges.all.map((edge) => edge.id) ?? []
      queue.want(targets)
      return queue.rules.trees.links(id)
    })
  }

  tree(root: string): Promise<TreeCounts> {
    return this.#look((queue) => queue.rules.trees.counts(root))
  }

  /** A job's end and the changes to its dependents are one commit, so there is nothing to mend. */
  async mend(): Promise<MendReport> {
    await this.#parts.ready()
    return { looked: 0, mended: 0 }
  }

  async pause(queue: string): Promise<void> {
    await this.#parts.ready()
    await this.#parts.server.all([['HSET', 'paused', queue, 1]])
  }

  async resume(queue: string): Promise<void> {
    await this.#parts.ready()
    const [removed] = await this.#parts.server.all([['HDEL', 'paused', queue]])
    if (removed === 1) await this.#parts.wake()
  }

  async pausedQueues(): Promise<readonly string[]> {
    await this.#parts.ready()
    return pausedQueuesIn(await this.#paused()).sort()
  }

  pauseJob(job: string): Promise<void> {
    return this.pause(pausedJobKey(job))
  }

  resumeJob(job: string): Promise<void> {
    return this.resume(pausedJobKey(job))
  }

  async pausedJobs(): Promise<readonly string[]> {
    await this.#parts.ready()
    return pausedJobsIn(await this.#paused()).sort()
  }

  async holds(id: string, rules: ClaimRules): Promise<readonly Hold[]> {
    await this.#parts.ready()
    return this.#looking.holds(id, rules)
  }

  async #paused(): Promise<string[]> {
    const [stored] = await this.#parts.server.all([['HKEYS', 'paused']])
    return stored as string[]
  }

  async #manage<Answer>(ids: readonly string[], act: (managing: Managing) => Answer, withBodies = false): Promise<Answer> {
    await this.#parts.ready()
    return this.#parts.units.run((queue) => {
      if (withBodies) queue.rows.want(ids.map((id) => field('b', id)))
      queue.wantEnding(ids)
      return { answer: act(queue.rules.managing) }
    })
  }

  async #look<Answer>(look: (queue: LoadedQueue) => Answer): Promise<Answer> {
    await this.#parts.ready()
    return this.#parts.units.run((queue) => ({ answer: look(queue) }))
  }

  #removeThese(ids: readonly string[], { state }: RemoveFilter): Promise<number> {
    return this.#parts.units.run((queue) => {
      queue.wantDeleted(ids)
      const jobs = ids.flatMap((id) => queue.job(id) ?? []).filter((job) => job.state === state)
      for (const job of jobs) queue.rules.jobs.delete(job)
      return { answer: jobs.length }
    })
  }
}
