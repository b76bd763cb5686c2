import { byCodePoint } from '../../../core/text/text-order.ts'
import type { ClaimRules, Hold } from '../../../queue/contract/limits.ts'
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
} from '../../../queue/contract/store.ts'
import { refuseWrongLimit } from '../../../queue/model/list-limit.ts'
import { pausedIn, pausedKey } from '../../../queue/rules/claiming/pausing.ts'
import type { Managing } from '../../../queue/rules/jobs/managing.ts'
import { script } from '../connections/script.ts'
import { idOf } from '../units/head.ts'
import type { LoadedQueue } from '../units/loaded-queue.ts'
import { field } from '../units/needs.ts'
import { Counting } from './counting.ts'
import { RedisEvents } from './events.ts'
import { Looking } from './jobs.ts'
import { RedisLogs } from './logs.ts'
import { Mending } from './mending.ts'
import { RedisNumbers } from './numbers.ts'
import { ownedJobs } from './owned-jobs.ts'
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
  readonly #mending: Mending

  constructor(parts: RedisStoreParts) {
    this.#parts = parts
    this.#looking = new Looking(parts.server, parts.units)
    this.#counting = new Counting(parts.server)
    this.#mending = new Mending(parts.server, parts.units)
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
    refuseWrongLimit(filter, 'list()')
    await this.#parts.ready()
    return this.#looking.list(filter)
  }

  async counts(options: CountOptions = {}): Promise<readonly JobCount[]> {
    const { root } = options
    if (root !== undefined) return [await this.#look((queue) => queue.rules.trees.counts(root))]
    await this.#parts.ready()
    return this.#counting.counts(options)
  }

  /** Part of `PatternClaims`. */
  async readyOf(jobs: readonly string[]): Promise<readonly string[]> {
    await this.#parts.ready()
    return this.#counting.readyOf(jobs)
  }

  cancel(id: string, options?: CancelOptions): Promise<Cancellation> {
    return this.#manage([id], (managing) => managing.cancel(id, options))
  }

  amend(changes: readonly JobChange[]): Promise<readonly AmendAnswer[]> {
    const ids = changes.map(({ id }) => id)
    const withBodies = changes.filter((change) => !('runAt' in change)).map(({ id }) => id)
    return this.#manage(ids, (managing) => managing.amend(changes), withBodies)
  }

  retry(ids: readonly string[]) {
    return this.#manage(ids, (managing) => managing.retry(ids))
  }

  holders(ids: readonly string[]): Promise<readonly (string | null)[]> {
    return this.#manage(ids, (managing) => managing.holders(ids))
  }

  async remove(filter: RemoveFilter): Promise<number> {
    refuseWrongLimit(filter, 'remove()')
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

  async leases(filter: LeaseFilter): Promise<readonly HeldLease[]> {
    await this.#parts.ready()
    if ('ids' in filter) return this.#looking.leases(filter.ids, () => true)
    const { owners } = filter
    const ids = await ownedJobs(this.#parts.server, owners)
    return this.#looking.leases(ids, ({ owner }) => owners.includes(owner as string))
  }

  links(id: string): Promise<readonly JobLink[]> {
    return this.#look((queue) => {
      const targets = queue.rules.jobs.get(id)?.links?.edges.all.map((edge) => edge.id) ?? []
      queue.want(targets)
      return queue.rules.trees.links(id)
    })
  }

  async setPaused(target: Pausable, isPaused: boolean): Promise<void> {
    await this.#parts.ready()
    const key = pausedKey(target)
    const [changed] = await this.#parts.server.change([isPaused ? ['HSET', 'paused', key, 1] : ['HDEL', 'paused', key]])
    if (changed === 1 && !isPaused) await this.#parts.wake()
  }

  async paused(): Promise<Paused> {
    await this.#parts.ready()
    const [stored] = (await this.#parts.server.all([['HKEYS', 'paused']])) as [string[]]
    return pausedIn(stored.sort(byCodePoint))
  }

  async holds(id: string, rules: ClaimRules): Promise<readonly Hold[]> {
    await this.#parts.ready()
    return this.#looking.holds(id, rules)
  }

  /** No logs are left behind: they are deleted with their job. */
  async sweep(request: SweepRequest): Promise<SweepReport> {
    await this.#parts.ready()
    if (request.part === 'waits') return this.#mending.mend(request.limit)
    const swept = await this.#swept(request)
    return { looked: swept, changed: swept }
  }

  async #swept(request: SweepRequest): Promise<number> {
    switch (request.part) {
      case 'waits':
      case 'logs':
        return 0
      case 'keys':
        return sweepKeys(this.#parts, request.limit)
      case 'rollups':
        return this.rollups.sweep()
      case 'occurrences':
        return this.schedules.forget(request.before, request.limit)
    }
  }

  async #manage<Answer>(
    ids: readonly string[],
    act: (managing: Managing) => Answer,
    withBodies: readonly string[] = [],
  ): Promise<Answer> {
    await this.#parts.ready()
    return this.#parts.units.run((queue) => {
      if (withBodies.length > 0) queue.rows.want(withBodies.map((id) => field('b', id)))
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

const sweepScript = script(`
local swept = 0
for _, kind in ipairs({ 'om', 'ul' }) do
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1] .. kind .. 'x', '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])) do
    redis.call('HDEL', KEYS[1] .. kind, name)
    redis.call('ZREM', KEYS[1] .. kind .. 'x', name)
    swept = swept + 1
  end
end
return swept
`)

/** Deletes idempotency keys and unique keys that have expired, at most `limit` of each. */
async function sweepKeys({ server, time }: RedisStoreParts, limit: number): Promise<number> {
  return Number(await server.run(sweepScript, [time.now(), limit]))
}
