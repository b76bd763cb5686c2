import type { DeadFilter, Purged, PurgeRequest, Replayed, ReplayRequest } from '../api/dead-shapes.ts'
import type { Created, Job, JobPage } from '../api/job-shapes.ts'
import type { Queues } from '../api/queue-shapes.ts'
import type { NewSchedule, NextRuns, Schedule } from '../api/schedule-shapes.ts'
import type { CallOptions, Calls } from './calling.ts'

export class QueueCalls {
  readonly #calls: Calls

  constructor(calls: Calls) {
    this.#calls = calls
  }

  async list(options?: CallOptions): Promise<Queues['queues']> {
    return (await this.#calls.call('listQueues', options)).queues
  }

  async pause(queue: string, options?: CallOptions): Promise<void> {
    await this.#calls.call('pauseQueue', { ...options, params: { queue } })
  }

  async resume(queue: string, options?: CallOptions): Promise<void> {
    await this.#calls.call('resumeQueue', { ...options, params: { queue } })
  }
}

export interface ScheduleListFilter {
  /** Only schedules whose names or keys begin with this. */
  readonly prefix?: string
  /** Only schedules created at run time (true), or only those in the code (false). */
  readonly stored?: boolean
}

export class ScheduleCalls {
  readonly #calls: Calls

  constructor(calls: Calls) {
    this.#calls = calls
  }

  /** Lists schedules, both those in the code and those created at run time. */
  async list({ prefix, stored, ...options }: ScheduleListFilter & CallOptions = {}): Promise<readonly Schedule[]> {
    const query = {
      ...(prefix !== undefined && { prefix }),
      ...(stored !== undefined && ({ stored: stored ? 'true' : 'false' } as const)),
    }
    return (await this.#calls.call('listSchedules', { ...options, query })).schedules
  }

  get(name: string, options?: CallOptions): Promise<Schedule> {
    return this.#calls.call('getSchedule', { ...options, params: { name } })
  }

  /** Creates or updates the stored schedule with this key. */
  upsert(key: string, schedule: NewSchedule, options?: CallOptions): Promise<Schedule> {
    return this.#calls.call('putSchedule', { ...options, params: { name: key }, body: schedule })
  }

  /** Deletes a stored schedule. */
  async delete(key: string, options?: CallOptions): Promise<void> {
    await this.#calls.call('deleteSchedule', { ...options, params: { name: key } })
  }

  async pause(name: string, options?: CallOptions): Promise<void> {
    await this.#calls.call('pauseSchedule', { ...options, params: { name } })
  }

  async resume(name: string, options?: CallOptions): Promise<void> {
    await this.#calls.call('resumeSchedule', { ...options, params: { name } })
  }

  /** Runs its job now. */
  runNow(name: string, options?: CallOptions): Promise<Created> {
    return this.trigger(name, options)
  }

  /** Alias of `runNow`. */
  trigger(name: string, options?: CallOptions): Promise<Created> {
    return this.#calls.call('triggerSchedule', { ...options, params: { name } })
  }

  next(name: string, count?: number, options?: CallOptions): Promise<NextRuns> {
    return this.#calls.call('nextRuns', { ...options, params: { name }, query: count === undefined ? {} : { count } })
  }
}

/** Jobs that have failed permanently. */
export class DeadCalls {
  readonly #calls: Calls

  constructor(calls: Calls) {
    this.#calls = calls
  }

  list(filter: DeadFilter = {}, options?: CallOptions): Promise<JobPage> {
    return this.#calls.call('listDead', { ...options, query: filter })
  }

  replay(id: string, options?: CallOptions): Promise<Job> {
    return this.#calls.call('replayDeadJob', { ...options, params: { id } })
  }

  replayMany(request: ReplayRequest, options?: CallOptions): Promise<Replayed> {
    return this.#calls.call('replayDead', { ...options, body: request })
  }

  purge(request: PurgeRequest, options?: CallOptions): Promise<Purged> {
    return this.#calls.call('purgeDead', { ...options, body: request })
  }
}
